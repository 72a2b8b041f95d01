/** 72 random bits, which base64url writes as 12 characters. */
const TOKEN_BYTES = 9;
/** Asking the system for randomness costs much the same for one token and for many. */
const TOKENS_AT_ONCE = 64;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const random = new Uint8Array(TOKEN_BYTES * TOKENS_AT_ONCE);
let unread = 0;

/**
 * Names one write among all writes of all processes. It comes from the system and not from a clock, which tests and
 * restored processes may run twice.
 */
export function newWriteToken(): string {
  if (unread === 0) {
    crypto.getRandomValues(random);
    unread = random.length;
  }
  unread -= TOKEN_BYTES;
  let token = '';
  for (let at = unread; at < unread + TOKEN_BYTES; at += 3) {
    const bits =
      ((random[at] as number) << 16) | ((random[at + 1] as number) << 8) | (random[at + 2] as number);
    for (let shift = 18; shift >= 0; shift -= 6) token += ALPHABET[(bits >> shift) & 63];
  }
  return token;
}
