import { z } from 'zod';
import { ofType, textOf, type Part, type Turn, type View } from '../view.ts';
import { check, type Violation } from './check.ts';

/** Where results stand: in the next message, in the messages of tools that follow, or anywhere after. */
const within = z.enum(['next', 'following', 'after']);

type Within = z.infer<typeof within>;

function resultsAfter({ turns }: View, index: number, where: Within): readonly Part[] {
  const rest = turns.slice(index + 1);
  const end = rest.findIndex(({ role }) => role !== 'tool');
  const ends = { next: 1, following: end === -1 ? rest.length : end, after: rest.length };
  return rest.slice(0, ends[where]).flatMap((turn) => ofType(turn, 'result'));
}

function callsBefore({ turns }: View, index: number, where: Within): readonly Part[] {
  const before = turns.slice(0, index);
  const starts = {
    next: index - 1,
    following: before.findLastIndex(({ role }) => role !== 'tool'),
    after: 0,
  };
  return before.slice(Math.max(starts[where], 0)).flatMap((turn) => ofType(turn, 'call'));
}

function idOf({ at }: Part): string {
  return textOf(at['id']?.value);
}

/** Each call has a result. */
export const answered = check(z.strictObject({ within }), (view, { within: where }) =>
  view.turns.flatMap((turn, index) => {
    const answers = new Set(resultsAfter(view, index, where).map(idOf));
    return ofType(turn, 'call')
      .filter((call) => !answers.has(idOf(call)))
      .map((call): Violation => ({ path: turn.path, fill: { id: idOf(call), index } }));
  }),
);

/** Each result answers a call. */
export const called = check(z.strictObject({ within }), (view, { within: where }) =>
  view.turns.flatMap((turn, index) => {
    const calls = new Set(callsBefore(view, index, where).map(idOf));
    return ofType(turn, 'result')
      .filter((result) => !calls.has(idOf(result)))
      .map((result): Violation => ({ path: result.path, fill: { id: idOf(result), index } }));
  }),
);

/** A call has one result at most. */
export const answeredOnce = check(z.strictObject({ within }), (view, { within: where }) =>
  view.turns.flatMap((turn, index) => {
    if (!ofType(turn, 'call').length) return [];
    const seen = new Set<string>();
    return resultsAfter(view, index, where)
      .filter((result) => seen.size === seen.add(idOf(result)).size)
      .map((result): Violation => ({ path: result.path, fill: { id: idOf(result) } }));
  }),
);

/** The results that follow are as many as the calls; `more`: no more than the calls. */
export const sameCount = check(
  z.strictObject({ within, more: z.boolean().optional() }),
  (view, { within: where, more = false }) =>
    view.turns.flatMap((turn, index) => {
      if (turn.role !== 'assistant') return [];
      const calls = ofType(turn, 'call').length;
      const results = resultsAfter(view, index, where).length;
      const isWrong = more ? results > calls : results !== calls;
      return isWrong ? [{ path: turn.path, fill: { calls, results, next: index + 1 } }] : [];
    }),
);

/** In a message with results, nothing stands before them; `alone`: nor after them. Results of servers count as no part. */
export const resultsFirst = check(
  z.strictObject({ alone: z.boolean().optional() }),
  ({ turns }, { alone = false }) =>
    turns.flatMap((turn) => {
      const results = ofType(turn, 'result');
      if (!results.length) return [];
      const others = othersOf(turn, results);
      const last = turn.parts.findLastIndex(({ type }) => type === 'result');
      const wrong = alone ? others : others.filter((part) => turn.parts.indexOf(part) < last);
      return wrong.slice(0, 1).map(({ path }) => ({ path, fill: { count: results.length } }));
    }),
);

/** The parts of a message that stand beside its results, not inside them. */
function othersOf({ parts }: Turn, results: readonly Part[]): readonly Part[] {
  return parts.filter(
    ({ type, path }) =>
      type !== 'result' &&
      type !== 'mark' &&
      !results.some((result) => path.join('\n').startsWith(`${result.path.join('\n')}\n`)),
  );
}

/** Each result stands directly after its call, with nothing between. */
export const resultsAdjacent = check(z.strictObject({}), ({ turns }) =>
  turns.flatMap((turn, index) =>
    ofType(turn, 'call')
      .filter((call) => {
        const next = turns[index + 1];
        return !next || !ofType(next, 'result').some((result) => idOf(result) === idOf(call));
      })
      .map((call): Violation => ({ path: turn.path, fill: { id: idOf(call) } })),
  ),
);

/** The result of a provider's own tool stands after its call, in the same message. */
export const serverResults = check(z.strictObject({}), ({ turns }) =>
  turns.flatMap((turn) => {
    const calls = new Set(ofType(turn, 'server-call').map(idOf));
    return ofType(turn, 'server-result')
      .filter((result) => !calls.has(idOf(result)))
      .map((result): Violation => ({ path: result.path, fill: { id: idOf(result) } }));
  }),
);
