declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** A DynamoDB in memory. */
  export default function dynalite(options?: { readonly createTableMs?: number }): Server;
}
