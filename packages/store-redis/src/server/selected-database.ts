import type { RedisArgument } from './redis-client.ts';

/** The members of a client that the selection uses. */
interface SelectingClient {
  readonly options: object;
  callBuffer(command: string, args: RedisArgument[]): Promise<unknown>;
  on(event: 'close', listener: () => void): unknown;
}

/**
 * Selects the database of a client on each of its connections. The client selects it too, but it ignores the refusal of a
 * server, and then works in database 0.
 */
export class SelectedDatabase {
  private readonly client: SelectingClient;
  private selecting: Promise<unknown> | undefined;

  constructor(client: SelectingClient) {
    this.client = client;
    if (databaseOf(client) !== 0) client.on('close', () => (this.selecting = undefined));
  }

  /** Resolves when the connection uses the database. @throws the error of the server, if it refuses the database. */
  async select(): Promise<void> {
    const database = databaseOf(this.client);
    if (database === 0) return;
    this.selecting ??= this.client.callBuffer('select', [database]);
    try {
      await this.selecting;
    } catch (error) {
      this.selecting = undefined;
      throw error;
    }
  }
}

/** The number of the database of a client. */
export function databaseOf(client: { readonly options: object }): number {
  const { condition, options } = client as Partial<ConnectedClient>;
  return condition?.select ?? options?.db ?? 0;
}

interface ConnectedClient {
  /** The database that a `SELECT` of the caller may have changed. */
  readonly condition: { readonly select?: number } | null;
  readonly options: { readonly db?: number };
}
