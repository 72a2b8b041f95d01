import type { Answer, AnswerPart } from '../wire.ts';

/** The time of every answer, in seconds. */
export const CREATED = 1_767_225_600;

/** The parts of one type, in the order of the answer. */
export function partsOfType<Type extends AnswerPart['type']>(
  { parts }: Answer,
  type: Type,
): readonly Extract<AnswerPart, { type: Type }>[] {
  return parts.filter((part): part is Extract<AnswerPart, { type: Type }> => part.type === type);
}

/** Splits a text into two pieces, as it arrives in a stream. An empty text has no piece. */
export function pieces(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== '');
}
