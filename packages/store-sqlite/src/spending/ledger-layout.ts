import type { DatabaseLayout } from '../schema.ts';

/**
 * An account is one row of `accounts`: the beginning of each window in milliseconds since 1970, and the amount spent since
 * then in nano-dollars. Owners and ids are stored as they are.
 */
const SCHEMA = `
  CREATE TABLE accounts (
    account_key INTEGER PRIMARY KEY,
    owner TEXT NOT NULL UNIQUE,
    hour_since INTEGER NOT NULL,
    hour_spent INTEGER NOT NULL,
    day_since INTEGER NOT NULL,
    day_spent INTEGER NOT NULL,
    month_since INTEGER NOT NULL,
    month_spent INTEGER NOT NULL,
    total_since INTEGER NOT NULL,
    total_spent INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE reservations (
    account_key INTEGER NOT NULL,
    inference_id TEXT NOT NULL,
    amount INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (account_key, inference_id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE settled_calls (
    account_key INTEGER NOT NULL,
    inference_id TEXT NOT NULL,
    keep_until INTEGER NOT NULL,
    UNIQUE (account_key, inference_id)
  ) STRICT;
  CREATE INDEX settled_calls_kept ON settled_calls (keep_until);`;

/** The layout of a database of spending. Its `application_id` is "HolS" in ASCII. */
export const LEDGER_LAYOUT: DatabaseLayout = {
  content: 'spending',
  applicationId: 0x486f6c53,
  version: 1,
  sql: SCHEMA,
};
