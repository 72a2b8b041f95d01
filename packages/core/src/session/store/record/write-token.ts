/** 72 random bits, which base64url writes as 12 characters. */
const TOKEN_BYTES = 9;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/**
 * Returns a token that no other write of any process has. The token comes from the random source of the system, read at
 * each write. The clock of a test, or bytes drawn before a process is copied, would give two writes the same token.
 */
export function newWriteToken(): string {
  const random = crypto.getRandomValues(new Uint8Array(TOKEN_BYTES));
  let token = '';
  for (let at = 0; at < TOKEN_BYTES; at += 3) {
    const [high = 0, middle = 0, low = 0] = random.subarray(at, at + 3);
    const bits = (high << 16) | (middle << 8) | low;
    for (let shift = 18; shift >= 0; shift -= 6) token += ALPHABET[(bits >> shift) & 63];
  }
  return token;
}
