import type { Break } from '../server.ts';
import type { Answer, AnswerPart, AnswerUsage, PartOf, WireFailure } from '../wire.ts';
import { inputOf } from '../wires/parts.ts';
import { prefixOf, type Issuer } from './issuer.ts';
import type { Part, Turn, View } from './view.ts';

/** An answer of a script. The server gives it its id, and signs its reasoning. */
export interface StrictAnswer {
  readonly parts: readonly AnswerPart[];
  /** Default: `tool-calls` when the answer has a call, or else `stop`. */
  readonly finish?: Answer['finish'];
  readonly usage?: AnswerUsage;
  /** How the response breaks. */
  readonly break?: Break;
}

/** A failure of a script that has nothing to do with the form of the request, such as `overloaded`. */
export interface StrictFailure {
  readonly failure: WireFailure;
}

const USAGE: AnswerUsage = { input: 10, output: 5 };

/**
 * The answer to a request, with an id that no other answer has. Reasoning, and calls of Gemini, get signatures for what
 * stands before them.
 */
export function issuedAnswer(
  { parts, finish, usage = USAGE }: StrictAnswer,
  view: View,
  issuer: Issuer,
): Answer {
  const hasCall = parts.some(({ type }) => type === 'call');
  const id = issuer.nextId();
  return {
    id,
    parts: signedParts(parts, view, issuer, id),
    finish: finish ?? (hasCall ? 'tool-calls' : 'stop'),
    usage,
    signature: issuer.sign(prefixOf(view, view.turns.length, 0), ''),
  };
}

function signedParts(
  parts: readonly AnswerPart[],
  view: View,
  issuer: Issuer,
  id: string,
): readonly AnswerPart[] {
  const size = parts.filter(isUnsigned).length;
  return parts.reduce<readonly AnswerPart[]>((before, part) => {
    if (!isUnsigned(part)) return [...before, part];
    const inside: Turn = { ...EMPTY, parts: before.map(replayed) };
    const prefix = prefixOf({ ...view, turns: [...view.turns, inside] }, view.turns.length, before.length);
    const text = part.text === '' ? 'redacted' : part.text;
    return [...before, { ...part, signature: issuer.sign(prefix, text, { id, size }) }];
  }, []);
}

function isUnsigned(part: AnswerPart): part is PartOf<'reasoning'> {
  return part.type === 'reasoning' && part.signature === undefined;
}

const MESSAGE: Part = { type: 'message', path: [], raw: {}, at: {} };
const EMPTY: Turn = { path: [], role: 'assistant', message: MESSAGE, parts: [] };

/** A part of an answer as a later request has it. */
function replayed(part: AnswerPart): Part {
  switch (part.type) {
    case 'text':
      return { ...MESSAGE, type: 'text', at: placesOf({ text: part.text }) };
    case 'reasoning': {
      const isRedacted = part.text === '';
      const { signature } = part;
      return {
        ...MESSAGE,
        type: isRedacted ? 'redacted' : 'reasoning',
        at: placesOf(isRedacted ? { signature } : { text: part.text, signature }),
      };
    }
    case 'call':
      return {
        ...MESSAGE,
        type: 'call',
        at: placesOf({ id: part.id, name: part.name, input: inputOf(part) }),
      };
    default:
      return { ...MESSAGE, type: 'other', at: {} };
  }
}

function placesOf(values: Readonly<Record<string, unknown>>): Part['at'] {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { path: [], value }]));
}
