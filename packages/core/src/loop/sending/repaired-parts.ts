import type { JsonValue } from '../../json.ts';
import type {
  AssistantPart,
  FilePart,
  ProviderOptions,
  TextPart,
  ToolContentPart,
  ToolOutput,
} from '../../state/messages/messages.ts';

/** Returns a value without lone surrogates in its texts and names; the value itself when it has no such texts. */
export function wellFormed<T>(value: T): T {
  return isWellFormed(value) ? value : (replaced(value as JsonValue) as T);
}

/** True when no text and no name in the value has a lone surrogate. */
export function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (!isWellFormed(value[index])) return false;
    return true;
  }
  for (const name in value)
    if (!name.isWellFormed() || !isWellFormed((value as Record<string, unknown>)[name])) return false;
  return true;
}

function replaced(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(replaced));
  const members = Object.entries(value).map(([name, member]) => [name.toWellFormed(), replaced(member)]);
  return Object.freeze(Object.fromEntries(members));
}

/** True for text of white space only. */
export function isBlank(text: string): boolean {
  return text.charCodeAt(0) > 0x20 && text.charCodeAt(0) < 0x80 ? false : text.trim() === '';
}

/** Returns a text part. */
export function textPart(text: string): TextPart {
  return Object.freeze({ type: 'text', text });
}

/** Returns the part when a provider can read its data, the part with corrected data, or a text that says what is missing. */
export function sentFile(part: FilePart): FilePart | TextPart {
  const { data } = part;
  if (data.type === 'url' ? URL.canParse(data.url) : data.type !== 'data' || isBase64(data.data)) return part;
  const corrected = data.type === 'data' ? correctedData(data.data) : undefined;
  if (corrected === undefined)
    return textPart(`[The file ${part.filename ?? part.mediaType} cannot be read.]`);
  const mediaType = corrected.mediaType ?? part.mediaType;
  return Object.freeze({ ...part, mediaType, data: Object.freeze({ type: 'data', data: corrected.data }) });
}

interface CorrectedData {
  readonly data: string;
  readonly mediaType: string | undefined;
}

/** Reads base64 with white space, with the alphabet of URLs, without padding, or inside a data: URL. */
function correctedData(given: string): CorrectedData | undefined {
  const isUrl = given.startsWith('data:') && given.includes(',');
  const comma = isUrl ? given.indexOf(',') : -1;
  const mediaType = isUrl ? given.slice('data:'.length, comma).split(';')[0] : '';
  const text = given
    .slice(comma + 1)
    .replaceAll(/[\s=]/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  const data = text.padEnd(Math.ceil(text.length / 4) * 4, '=');
  return isBase64(data) ? { data, mediaType: mediaType || undefined } : undefined;
}

/** True for base64 with its padding. Checks the end by a pattern, and the rest for other characters. */
function isBase64(text: string): boolean {
  if (text.length === 0 || text.length % 4 !== 0) return false;
  const end = text.endsWith('==') ? text.length - 2 : text.endsWith('=') ? text.length - 1 : text.length;
  return !/[^A-Za-z0-9+/]/.test(text.slice(0, end));
}

/** Returns an output that has text, with files that can be read. */
export function sentOutput(output: ToolOutput, takesBlankTexts: boolean): ToolOutput {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return takesBlankTexts || !isBlank(output.value)
        ? output
        : Object.freeze({ ...output, value: '(no output)' });
    case 'content':
      return sentContent(output, takesBlankTexts);
    default:
      return output;
  }
}

type ContentOutput = Extract<ToolOutput, { readonly type: 'content' }>;

function sentContent(output: ContentOutput, takesBlankTexts: boolean): ToolOutput {
  const isSent = (part: ToolContentPart) => part.type !== 'text' || takesBlankTexts || !isBlank(part.text);
  const value = output.value.map((part) => (part.type === 'file' ? sentFile(part) : part)).filter(isSent);
  if (value.length === 0) value.push(textPart('(no output)'));
  const isSame = value.length === output.value.length && value.every((part, at) => part === output.value[at]);
  return isSame ? output : Object.freeze({ ...output, value: Object.freeze(value) });
}

/** Returns the part without the named members of its provider options. */
export function withoutOptions<T extends { readonly providerOptions?: ProviderOptions }>(
  part: T,
  names: readonly string[],
): T {
  const { providerOptions, ...rest } = part;
  if (providerOptions === undefined || !hasOption(part, names)) return part;
  const kept: Record<string, JsonValue> = {};
  for (const [provider, members] of Object.entries(providerOptions)) {
    const left = isMembers(members)
      ? Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
      : members;
    if (!isMembers(left) || Object.keys(left).length > 0) kept[provider] = left;
  }
  const isEmpty = Object.keys(kept).length === 0;
  return Object.freeze(isEmpty ? rest : { ...rest, providerOptions: Object.freeze(kept) }) as T;
}

/** True when the options of the part have one of the members, for any provider. */
export function hasOption(
  { providerOptions }: { readonly providerOptions?: ProviderOptions },
  names: readonly string[],
): boolean {
  if (providerOptions === undefined) return false;
  return Object.values(providerOptions).some(
    (members) => isMembers(members) && names.some((name) => name in members),
  );
}

function isMembers(value: JsonValue): value is { readonly [name: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for reasoning, as text or as a file. */
export function isReasoning({ type }: AssistantPart): boolean {
  return type === 'reasoning' || type === 'reasoning-file';
}
