import type { Answer, AnswerPart, PartOf } from '../wire.ts';

/** The time of every answer, in seconds. */
export const CREATED = 1_767_225_600;

/** The parts of one type, in the order of the answer. */
export function partsOfType<Type extends AnswerPart['type']>(
  { parts }: Answer,
  type: Type,
): readonly PartOf<Type>[] {
  return parts.filter((part): part is PartOf<Type> => part.type === type);
}

/** The texts of the parts of one type. */
export function textOfParts(answer: Answer, type: 'text' | 'reasoning'): string {
  return partsOfType(answer, type)
    .map(({ text }) => text)
    .join('');
}

/** The functions of a protocol that write the parts of each type. A type that the protocol lacks has none. */
export type PartWriters<Written> = {
  readonly [Type in AnswerPart['type']]?: (part: PartOf<Type>, index: number) => readonly Written[];
};

/** The parts of an answer in the form of a protocol. */
export function written<Written>(
  parts: readonly AnswerPart[],
  writers: PartWriters<Written>,
): readonly Written[] {
  return parts.flatMap((part, index) => writers[part.type]?.(part as never, index) ?? []);
}

/** The arguments of a call, as a protocol writes them that has them as a text. */
export function argumentsOf({ input, argumentsText }: PartOf<'call'>): string {
  return argumentsText ?? JSON.stringify(input);
}

/** The input of a call, as a protocol writes it that has it as a value. A text that is no JSON stays a text. */
export function inputOf({ input, argumentsText }: PartOf<'call'>): unknown {
  if (argumentsText === undefined) return input;
  try {
    return JSON.parse(argumentsText) as unknown;
  } catch {
    return argumentsText;
  }
}

/** Splits a text into two pieces, as it arrives in a stream. An empty text has no piece. */
export function pieces(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== '');
}

/** The sources that follow the text at `index`. Some protocols attach them to the text. */
export function sourcesAfter(parts: readonly AnswerPart[], index: number): readonly PartOf<'source'>[] {
  const rest = parts.slice(index + 1);
  const end = rest.findIndex(({ type }) => type !== 'source');
  return rest.slice(0, end === -1 ? undefined : end).filter((part) => part.type === 'source');
}
