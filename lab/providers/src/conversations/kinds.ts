import type { UserPart } from '@holdfast/core';
import type { AnswerPart, PartOf } from '../wire.ts';
import type { StrictStep } from '../strict/server.ts';

/** The kinds of content of a conversation. A test demands that each of them occurs. */
export const KINDS = [
  'odd name',
  'odd arguments',
  'odd id',
  'blank text',
  'half of a surrogate pair',
  'cut answer',
  'failed call',
  'reasoning',
  'file of a user',
  'file of a model',
  'call of a provider',
  'custom part',
  'imported message',
  'step after an answer',
  'switch of the model',
  'switch inside an execution',
  'summary',
  'crash of a run',
  'crash of a process with a store',
  'hand-over to another process',
  'new tool',
  'renamed tool',
  'removed tool',
  'changed schema',
] as const;

export type Kind = (typeof KINDS)[number];

/** The kinds of an answer. `tools`: the names of the agent's tools. */
export function kindsOfStep(step: StrictStep, tools: readonly string[]): readonly Kind[] {
  if ('failure' in step) return ['failed call'];
  const { parts, finish, break: broken } = step;
  const isCut = finish === 'length' || broken !== undefined;
  return [...(isCut ? ['cut answer' as const] : []), ...parts.flatMap((part) => kindsOfPart(part, tools))];
}

/** The kinds of the words of a user. */
export function kindsOfWords(parts: readonly UserPart[]): readonly Kind[] {
  return parts.flatMap((part) => (part.type === 'text' ? kindsOfText(part.text) : ['file of a user']));
}

function kindsOfPart(part: AnswerPart, tools: readonly string[]): readonly Kind[] {
  switch (part.type) {
    case 'text':
      return kindsOfText(part.text);
    case 'reasoning':
      return ['reasoning', ...kindsOfText(part.text)];
    case 'call':
      return kindsOfCall(part, tools);
    case 'provider-call':
      return ['call of a provider'];
    case 'file':
      return ['file of a model'];
    default:
      return [];
  }
}

function kindsOfText(text: string): readonly Kind[] {
  if (!text.isWellFormed()) return ['half of a surrogate pair'];
  return text.trim() === '' ? ['blank text'] : [];
}

function kindsOfCall(
  { id, name, argumentsText = '' }: PartOf<'call'>,
  tools: readonly string[],
): readonly Kind[] {
  const kinds: readonly (readonly [Kind, boolean])[] = [
    ['odd id', !/^call_\d{6}$/.test(id)],
    ['odd name', !tools.includes(name)],
    ['odd arguments', !/^\{"city":"\w+"\}$/.test(argumentsText)],
    ['half of a surrogate pair', !`${id}${name}`.isWellFormed() || /\\ud[89a-f]/.test(argumentsText)],
  ];
  return kinds.flatMap(([kind, isOf]) => (isOf ? [kind] : []));
}
