const MAX_LENGTH = 600;

const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\b(authorization["']?\s*[:=]\s*["']?(?:\w+\s+)?)[^\s"',;]*[^\s"',;.]/gi, '$1[redacted]'],
  [/\b(bearer)\s+(?=\S*[\d*])\S{5,}[^\s.]/gi, '$1 [redacted]'],
  [/\b(?:sk|pk|rk|gsk|xai|vck|hf|r8)[-_](?=\S*[\d*])[\w*.-]{5,}[\w*-]/g, '[redacted]'],
  [/\bAIza[\w-]{20,}/g, '[redacted]'],
  [
    /\b(api[-_ ]?key|token|secret|password)(["']?\s*[:=][^\S\n]*["']?)[^\s"',;&)]{3,}[^\s"',;&).]/gi,
    '$1$2[redacted]',
  ],
  [/\b(\w+:\/\/)[^\s/@]+@/g, '$1[redacted]@'],
  [/(\w+:\/\/[^\s?"'<>]+)\?[^\s"'<>]*/g, '$1?[redacted]'],
];

/** Removes the given secrets, texts that look like keys, and queries of URLs from a text, and truncates it. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret.length >= 6) clean = clean.replaceAll(secret, '[redacted]');
  for (const [pattern, replacement] of SECRETS) clean = clean.replace(pattern, replacement);
  return clean.length > MAX_LENGTH ? `${clean.slice(0, MAX_LENGTH)}…` : clean;
}
