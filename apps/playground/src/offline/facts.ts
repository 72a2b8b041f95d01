import type { PastCall, Turn } from './conversation.ts';
import type { Result } from './goal.ts';

/** A member of a value, `undefined` if it is missing. */
function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** A member of a value as text; numbers count. */
export function textIn(value: unknown, name: string): string | undefined {
  const member = memberOf(value, name);
  return typeof member === 'string' || typeof member === 'number' ? String(member) : undefined;
}

type Call = Pick<Result, 'tool' | 'value'> & { readonly input: unknown };

/** A note as `notebook_read` returns it. */
export interface Note {
  readonly name: string;
  readonly text: string;
}

/** The notes in the result of `notebook_read`; other content is omitted. */
export function notesIn(value: unknown): readonly Note[] {
  const notes = memberOf(value, 'notes');
  if (!Array.isArray(notes)) return [];
  return notes.flatMap((note: unknown) => {
    const [name, text] = [textIn(note, 'name'), textIn(note, 'text')];
    return name === undefined || text === undefined ? [] : [{ name, text }];
  });
}

const wordings: Readonly<Record<string, (call: Call) => string | undefined>> = {
  calculator({ input, value }) {
    const [expression, result] = [
      textIn(value, 'expression') ?? textIn(input, 'expression'),
      textIn(value, 'value'),
    ];
    return expression !== undefined && result !== undefined ? `${expression} = ${result}` : undefined;
  },
  clock({ value }) {
    const [text, timeZone] = [textIn(value, 'text') ?? textIn(value, 'iso'), textIn(value, 'timeZone')];
    return timeZone === undefined || text?.includes(timeZone) ? text : text && `${text} (${timeZone})`;
  },
  send_parcel({ input, value }) {
    const [item, to] = [
      textIn(value, 'item') ?? textIn(input, 'item'),
      textIn(value, 'to') ?? textIn(input, 'to'),
    ];
    const receipt = textIn(value, 'receipt');
    return receipt === undefined ? undefined : `sent to ${to}: ${item} (receipt ${receipt})`;
  },
  pay({ value }) {
    const [to, amount, receipt] = ['to', 'amount', 'receipt'].map((name) => textIn(value, name));
    return receipt === undefined ? undefined : `paid to ${to}: ${amount} euros (receipt ${receipt})`;
  },
  notebook_write({ input, value }) {
    const name = textIn(value, 'name') ?? textIn(input, 'name');
    return name === undefined ? undefined : `“${textIn(input, 'text')}” is noted as “${name}”`;
  },
  notebook_read({ value }) {
    const notes = notesIn(value);
    return notes.length === 0 ? 'no note was found' : notes.map((note) => note.text).join('; ');
  },
};

/** The fact that a finished call established, as a clause without a full stop. */
export function factOf(call: Call): string {
  const wording = wordings[call.tool];
  return wording?.(call) ?? `${call.tool} returned ${JSON.stringify(call.value)}`;
}

/** The finished calls of a turn, oldest first. */
export function resultsIn(turn: Turn): readonly Call[] {
  return turn.calls.flatMap(({ tool, input, outcome }) =>
    outcome?.kind === 'value' ? [{ tool, input, value: outcome.value }] : [],
  );
}

/** A call in words, for a list of what was done. */
export function describeCall({ tool, input, outcome }: PastCall): string {
  if (outcome?.kind === 'value') return `${tool}: ${factOf({ tool, input, value: outcome.value })}`;
  const end =
    outcome === undefined ? 'got no answer' : outcome.kind === 'denied' ? 'was not allowed' : 'failed';
  return `${tool} with ${JSON.stringify(input)} ${end}`;
}

/** The text as a sentence: with a capital letter and a full stop, unless it ends a sentence already. */
export function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…][”"')]?$/.test(capital) ? capital : `${capital}.`;
}

/** The text, cut to at most so many characters. */
export function shortened(text: string, longest = 120): string {
  return text.length > longest ? `${text.slice(0, longest - 1).trimEnd()}…` : text;
}
