declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** An in-memory DynamoDB. */
  export default function dynalite(options?: { readonly createTableMs?: number }): Server;
}
