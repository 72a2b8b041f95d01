/** Characters that look random, and are the same in each run. */
function characters(alphabet: string, length: number): string {
  let state = 20_261_127;
  return Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return alphabet[Math.floor((state / 2_147_483_648) * alphabet.length)];
  }).join('');
}

const HEX = '0123456789abcdef';
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const BASE62 = `0123456789${LOWER}${LOWER.toUpperCase()}`;
const BASE64 = `${BASE62}+/`;
const BASE64_URL = `${BASE62}-_`;
const word = (length: number): string => characters(BASE62, length);

/** A key in each form that is known. None is a key of anybody; parts are joined so that no scanner takes one for a key. */
export const KEYS: Readonly<Record<string, string>> = {
  'OpenAI, project': ['sk', 'proj', characters(BASE64_URL, 120)].join('-'),
  'OpenAI, service account': ['sk', 'svcacct', characters(BASE64_URL, 80)].join('-'),
  'OpenAI, earlier': ['sk', word(48)].join('-'),
  'OpenAI, masked': ['sk', '1234********cdef'].join('-'),
  'OpenAI, masked by dots': ['sk', 'proj', 'a1B2...x9Y8'].join('-'),
  Anthropic: ['sk', 'ant', 'api03', characters(BASE64_URL, 95)].join('-'),
  OpenRouter: ['sk', 'or', 'v1', characters(HEX, 64)].join('-'),
  DeepSeek: ['sk', characters(HEX, 32)].join('-'),
  'Google API': `AIza${characters(BASE64_URL, 35)}`,
  'Google OAuth': `ya29.${characters(BASE64_URL, 100)}`,
  'AWS access key': `AKIA${characters('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`,
  'AWS temporary key': `ASIA${characters('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`,
  'AWS secret key': ['wJalrXUtnFEMI', 'K7MDENG', 'bPxRfiCYEXAMPLEKEY'].join('/'),
  'GitHub, ghp': `ghp_${word(36)}`,
  'GitHub, gho': `gho_${word(36)}`,
  'GitHub, ghs': `ghs_${word(36)}`,
  'GitHub, fine-grained': `github_pat_${word(22)}_${word(59)}`,
  'Slack, bot': ['xoxb', characters('0123456789', 12), characters('0123456789', 12), word(24)].join('-'),
  'Slack, user': ['xoxp', characters('0123456789', 11), word(28)].join('-'),
  'JSON Web Token': [`eyJ${word(33)}`, `eyJ${word(60)}`, characters(BASE64_URL, 43)].join('.'),
  'hex, 32': characters(HEX, 32),
  'hex, 64': characters(HEX, 64).toUpperCase(),
  'letters and digits, 32': word(32),
  'base64, 88': `${characters(BASE64, 86)}==`,
  'base64url, 64': characters(BASE64_URL, 64),
  'Stripe, secret': `sk_live_${word(24)}`,
  'Stripe, restricted': `rk_test_${word(24)}`,
  'Stripe, webhook': `whsec_${word(32)}`,
  Groq: `gsk_${word(52)}`,
  xAI: `xai-${word(80)}`,
  'Hugging Face, letters alone': `hf_${characters(LOWER, 34)}`,
  Replicate: `r8_${word(37)}`,
  Perplexity: `pplx-${word(48)}`,
  Vercel: `vck_${word(56)}`,
  GitLab: `glpat-${characters(BASE64_URL, 20)}`,
  npm: `npm_${word(36)}`,
  PEM: [
    '-----BEGIN PRIVATE KEY-----',
    characters(BASE64, 64),
    characters(BASE64, 32),
    '-----END PRIVATE KEY-----',
  ].join('\n'),
};

/** Keys without a form, which only the words around them betray. */
export const PLAIN_KEYS: readonly string[] = [
  'f3a9c0d1e2b34567890ab',
  'tenant42.s3cr3t-Key',
  '4e1ad1a5-6f3c-4b0e-9d8e-0a1b2c3d4e5f',
];

/** The texts of providers around a key. */
export const WORDINGS: readonly ((key: string) => string)[] = [
  (key) => `Incorrect API key provided: ${key}. You can find your key at https://a.example.`,
  (key) => `invalid x-api-key ${key}`,
  (key) => `Received Authorization header 'Bearer ${key}'`,
  (key) => `Received API Key = ${key}, Key Hash = 12`,
  (key) => `authorization: bearer ${key}`,
  (key) => `Authorization: Basic ${key}`,
  (key) => `{"error":{"api_key":${JSON.stringify(key)},"code":1}}`,
  (key) => JSON.stringify({ message: JSON.stringify({ 'x-goog-api-key': key }) }),
  (key) => `The token "${key}" has expired`,
  (key) => `Your API key (${key}) is disabled`,
  (key) => `aws_secret_access_key ${key}`,
  (key) => `Ocp-Apim-Subscription-Key: ${key}\nHost: a.example`,
  (key) => `the credential \`${key}\` was revoked`,
];

/** Texts around a key that do not name it as one. */
export const UNLABELLED: readonly ((key: string) => string)[] = [
  (key) => key,
  (key) => `Unauthorized: ${key} is not valid`,
  (key) => `Invalid value: '${key}'.`,
  (key) => `["${key}"]`,
  (key) => `line one\\n${key}\\nline three`,
];

/** The six characters of a secret that a text contains first; `undefined` when it contains no six of them in a row. */
export function partOf(secret: string, text: string): string | undefined {
  for (let at = 0; at + 6 <= secret.length; at++) {
    const part = secret.slice(at, at + 6);
    if (text.includes(part)) return part;
  }
  return undefined;
}
