import { capped } from './cap.ts';
import { hidesWord, KEY_FORMS } from './key-forms.ts';

const MAX_SHOWN = 600;
const HIDDEN = '[redacted]';

/** Removes the given secrets and what `hideKeys` finds from the start of a text, and truncates it. */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets.flatMap(partsOf)) clean = clean.replaceAll(secret, HIDDEN);
  const start = capped(clean);
  const isCut = start.length < clean.length;
  clean = hideKeys(start);
  const shown = clean.slice(0, MAX_SHOWN).toWellFormed();
  return isCut || shown.length < clean.length ? `${shown}…` : shown;
}

/** Removes texts that look like keys, and queries and credentials of URLs, in linear time. */
export function hideKeys(text: string): string {
  let clean = text.replaceAll(URL_LIKE, urlWithoutSecrets);
  for (const { form, isShort } of KEY_FORMS)
    clean = clean.replaceAll(form, (found, at, whole) =>
      isShort && !hidesWord(found, at as number, whole as string) ? found : HIDDEN + endOf(found),
    );
  return clean.replaceAll(LABELLED, withoutValue).replaceAll(WORD, withoutKeys);
}

/** A secret, and the credential in the value of an `authorization` header. */
function partsOf(secret: string): readonly string[] {
  const [, credential = ''] = /^(?:bearer|basic|token|api-?key)\s(.*)$/is.exec(secret) ?? [];
  return [secret, credential].filter((part) => part.length >= 6);
}

/** The full stops at the end of a text, which belong to the sentence. */
function endOf(text: string): string {
  let end = text.length;
  while (text[end - 1] === '.') end--;
  return text.slice(end);
}

const URL_LIKE = /[a-z][a-z0-9+.-]{0,20}:\/\/[^\s"'`<>]+/gi;

function urlWithoutSecrets(url: string): string {
  const query = url.indexOf('?');
  const place = query === -1 ? url : `${url.slice(0, query)}?${HIDDEN}`;
  const host = place.indexOf('://') + 3;
  const path = place.indexOf('/', host);
  const credentials = place.slice(0, path === -1 ? undefined : path).lastIndexOf('@');
  return credentials === -1 ? place : place.slice(0, host) + HIDDEN + place.slice(credentials);
}

/** A name of secrets, the words and signs between the name and its value, and the value. */
const LABELLED =
  /((?:api|access|account|auth|private|secret|shared|signing|subscription)[-_ ]?(?:key|token)|client[-_ ]?secret|authorization|credentials?|passw(?:or)?d|secret|token|bearer|basic|[?&;](?:key|sig|signature|code)(?==))(?!\w)(\\?["'`]?(?:[ \t](?:header|value|provided|supplied|given|received|used|is|was)\b){0,3}[ \t]{0,3}[:=]{0,2}[ \t]{0,3}\\?["'`(]?(?:(?:bearer|basic|token|api-?key)[ \t]{1,3}\\?["'`]?)?)([^\s"'`,;&()<>[\]{}\\]{4,})/gi;

function withoutValue(found: string, label: string, between: string, value: string): string {
  const isGiven = /[:=]/.test(between) ? !/^\d{1,7}$/.test(value) : value.length >= 6 && /[\d*=]/.test(value);
  return isGiven ? label + between + HIDDEN + endOf(value) : found;
}

const WORD = /[\w+/.~*-]{8,}={0,2}/g;

/** Ids by which the support of a provider finds a request, a response, a call or a file. */
const ID =
  /^(?:req|resp|msg|chatcmpl|cmpl|call|toolu|srvtoolu|rs|fc|ws|file|org|proj|run|thread|asst|batch|vs|conv|gen)[-_]/;

/** Removes keys without a form: 32 letters and digits or more, 40 characters of base64 or more, and masked words. */
function withoutKeys(word: string): string {
  if (ID.test(word)) return word;
  if (word.includes('***') || isBase64(word)) return HIDDEN + endOf(word);
  return word.replaceAll(/[A-Za-z0-9]{32,}/g, (run) =>
    /\d/.test(run) && /[A-Za-z]/.test(run) ? HIDDEN : run,
  );
}

/** True for 40 characters or more in which letters of both cases and digits change as often as at random. Paths do not. */
function isBase64(word: string): boolean {
  if (word.length < 40 || word.startsWith('//')) return false;
  if (!/[a-z]/.test(word) || !/[A-Z]/.test(word) || !/\d/.test(word)) return false;
  const changes = word.match(/[a-z](?=[A-Z\d])|[A-Z](?=[a-z\d])|\d(?=[A-Za-z])/g) ?? [];
  return changes.length >= word.length / 4;
}
