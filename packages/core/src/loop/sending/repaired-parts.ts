import { isJsonObject, type JsonValue } from '../../json.ts';
import type {
  ProviderOptions,
  TextPart,
  ToolContentPart,
  ToolOutput,
} from '../../state/messages/messages.ts';
import { NO_FILES, sentFile } from './sent-file.ts';
import { isBlank, textPart } from './text-part.ts';

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

/** Returns an output that has text, with files that can be read. `types`: see `FileForm`. */
export function sentOutput(
  output: ToolOutput,
  takesBlankTexts: boolean,
  types: RegExp | undefined,
): ToolOutput {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return takesBlankTexts || !isBlank(output.value)
        ? output
        : Object.freeze({ ...output, value: '(no output)' });
    case 'content':
      return sentContent(output, takesBlankTexts, types);
    default:
      return output;
  }
}

/** Some packages send several results for several texts, or the JSON of the parts. */
function textOutput(parts: readonly TextPart[]): ToolOutput {
  return Object.freeze({ type: 'text', value: parts.map(({ text }) => text).join('\n') });
}

type ContentOutput = Extract<ToolOutput, { readonly type: 'content' }>;

function sentContent(output: ContentOutput, takesBlankTexts: boolean, types: RegExp | undefined): ToolOutput {
  const isSent = (part: ToolContentPart) => part.type !== 'text' || takesBlankTexts || !isBlank(part.text);
  const value = output.value
    .map((part) => (part.type === 'file' ? sentFile(part, types) : part))
    .filter(isSent);
  if (value.length === 0) value.push(textPart('(no output)'));
  if (types === NO_FILES && value.every(({ type }) => type === 'text'))
    return textOutput(value as TextPart[]);
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
    const left = isJsonObject(members)
      ? Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
      : members;
    if (!isJsonObject(left) || Object.keys(left).length > 0) kept[provider] = left;
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
    (members) => isJsonObject(members) && names.some((name) => name in members),
  );
}
