/** The form of a vendor's keys. */
export interface KeyForm {
  readonly of: string;
  /**
   * Begins with fixed characters, and has at most one part without an upper limit, so that its time is linear. `*` and `.`
   * belong to keys of which the vendor hides a part.
   */
  readonly form: RegExp;
  /** True when ordinary words can have the form, as in "risk-free": `hidesWord` decides. */
  readonly isShort?: true;
  /** The page that describes the form, and the day on which the form was compared with it. */
  readonly source: string;
  readonly checked: string;
}

const GITLEAKS = 'https://github.com/gitleaks/gitleaks/blob/master/config/gitleaks.toml';
const GITHUB =
  'https://docs.github.com/en/code-security/secret-scanning/introduction/supported-secret-scanning-patterns';
const JWT = 'https://www.rfc-editor.org/rfc/rfc7519#section-3.1';
const PEM = 'https://www.rfc-editor.org/rfc/rfc7468#section-2';

const row = (of: string, form: RegExp, source: string): KeyForm => ({
  of,
  form,
  source,
  checked: '2026-11-27',
});
const short = (of: string, form: RegExp, source: string): KeyForm => ({
  ...row(of, form, source),
  isShort: true,
});

/** The forms of keys that have a form. A form that contains another one comes first. */
export const KEY_FORMS: readonly KeyForm[] = [
  row('PEM', /-----BEGIN [A-Z0-9 ]{0,60}-----(?:(?!-----END)[^])*(?:-----END [A-Z0-9 ]{0,60}-----)?/g, PEM),
  row('JSON Web Token', /eyJ[\w*-]{6,}(?:\.[\w*-]*){0,4}/g, JWT),
  row('OpenAI', /sk-(?:proj|svcacct|admin)-[\w*.-]{4,}/g, GITLEAKS),
  row('Anthropic', /sk-ant-[\w*.-]{4,}/g, GITLEAKS),
  row('OpenRouter', /sk-or-[\w*.-]{4,}/g, GITHUB),
  short('OpenAI, DeepSeek and others', /sk-[\w*.-]{5,}/g, GITLEAKS),
  row('Stripe', /(?:[rsp]k_(?:live|test|prod)|whsec)_[\w*.]{4,}/g, GITLEAKS),
  short('Stripe and others', /[rsp]k_[\w*.-]{5,}/g, GITLEAKS),
  row('Google API', /AIza[\w*.-]{8,}/g, GITLEAKS),
  row('Google OAuth', /(?:ya29\.|GOCSPX-)[\w*.-]{8,}/g, GITHUB),
  row('AWS', /(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9*]{12,}/g, GITLEAKS),
  row('GitHub', /(?:gh[oprsu]|github_pat)_[\w*.]{8,}/g, GITLEAKS),
  row('GitLab', /glpat-[\w*.-]{8,}/g, GITLEAKS),
  row('Slack', /(?:xox[a-z](?:\.xox[a-z])?|xapp)-[\w*.-]{6,}/g, GITLEAKS),
  short('Groq', /gsk_[A-Za-z0-9*.]{5,}/g, GITHUB),
  short('xAI', /xai-[A-Za-z0-9*.]{5,}/g, GITHUB),
  short('Hugging Face', /hf_[A-Za-z0-9*.]{5,}/g, GITLEAKS),
  short('Replicate', /r8_[A-Za-z0-9*.]{5,}/g, GITHUB),
  short('Perplexity', /pplx-[A-Za-z0-9*.]{5,}/g, GITLEAKS),
  short('Vercel', /vc[a-z]_[A-Za-z0-9*.]{5,}/g, GITHUB),
  short('npm', /npm_[A-Za-z0-9*.]{5,}/g, GITLEAKS),
];

/** True for a match of a short form at `at` that is no ordinary word. */
export function hidesWord(found: string, at: number, text: string): boolean {
  return isWordStart(at, text) && (/[\d*]/.test(found) || /[A-Za-z]{24}/.test(found));
}

/** True unless a letter or digit stands before `at`. The end of an escape, such as `\n` or `%22`, does not count as one. */
function isWordStart(at: number, text: string): boolean {
  return /(?:^|[^A-Za-z0-9]|\\[nrt]|%[0-9A-F]{2})$/i.test(text.slice(Math.max(0, at - 3), at));
}
