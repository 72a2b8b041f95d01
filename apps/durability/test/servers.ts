import { join } from 'node:path';

/** Makes a place for an empty store. The folder is gone when the test is over. */
export type NewLocation = (folder: string) => Promise<string>;

/** A server that runs. */
interface Started {
  readonly newLocation: NewLocation;
  readonly stop: () => Promise<void>;
}

/** A store to test, and how the server that it needs is started. */
export interface TestedStore {
  readonly name: string;
  readonly start: () => Promise<Started>;
  /** One save may take more requests than the same save at another time. */
  readonly hasVaryingWrites?: boolean;
}

export const TESTED_STORES: readonly TestedStore[] = [{ name: 'sqlite', start: startNothing }];

async function startNothing(): Promise<Started> {
  return {
    newLocation: async (folder) => join(folder, 'sessions.db'),
    stop: async () => undefined,
  };
}
