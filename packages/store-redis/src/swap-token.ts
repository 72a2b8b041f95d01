import { randomBytes } from 'node:crypto';

/** 12 characters of base64. */
const TOKEN_BYTES = 9;
/** Asking the system for randomness costs much the same for one token and for many. */
const TOKENS_AT_ONCE = 128;

let random = Buffer.alloc(0);

/** Names one swap and no other, of whatever process or thread: all of it is random. */
export function newSwapToken(): string {
  if (random.length === 0) random = randomBytes(TOKEN_BYTES * TOKENS_AT_ONCE);
  const token = random.toString('base64url', 0, TOKEN_BYTES);
  random = random.subarray(TOKEN_BYTES);
  return token;
}
