import type { SessionFacts, SessionView } from './session-view.ts';

/** The change of a list: some rows go from its beginning, the next ones stay, and others follow. */
interface ListChange<Row> {
  readonly drop: number;
  readonly keep: number;
  readonly add: readonly Row[];
}

/** The change from one view of a session to the next. A list that has not changed is absent. */
export interface ViewChange {
  readonly facts: SessionFacts;
  readonly steps?: ListChange<SessionView['steps'][number]>;
  readonly tools?: ListChange<SessionView['tools'][number]>;
  readonly messages?: ListChange<SessionView['messages'][number]>;
}

/** An event of the stream of views. */
export type ViewEvent =
  | { readonly type: 'change'; readonly change: ViewChange }
  /** There is no such session, or it was deleted. */
  | { readonly type: 'gone' }
  | { readonly type: 'unreadable'; readonly message: string };

/** Returns the change that leads a page from one view to another. */
export function changeBetween(before: SessionView | undefined, after: SessionView): ViewChange {
  const { steps, tools, messages, ...facts } = after;
  return {
    facts,
    ...named('steps', listChange(before?.steps, steps)),
    ...named('tools', listChange(before?.tools, tools)),
    ...named('messages', listChange(before?.messages, messages)),
  };
}

/** Returns the view after a change. */
export function viewAfter(before: SessionView | undefined, change: ViewChange): SessionView {
  return {
    ...change.facts,
    steps: listAfter(before?.steps, change.steps),
    tools: listAfter(before?.tools, change.tools),
    messages: listAfter(before?.messages, change.messages),
  };
}

function named<Name extends string, Value>(name: Name, value: Value | undefined): { [N in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [N in Name]?: Value });
}

function listChange<Row>(before: readonly Row[] = [], after: readonly Row[]): ListChange<Row> | undefined {
  const [old, wanted] = [before.map(textOf), after.map(textOf)];
  const start = old.indexOf(wanted[0] ?? '');
  const drop = start === -1 ? old.length : start;
  let keep = 0;
  while (keep < wanted.length && old[drop + keep] === wanted[keep]) keep++;
  const isSame = drop === 0 && keep === old.length && keep === wanted.length;
  return isSame ? undefined : { drop, keep, add: after.slice(keep) };
}

function textOf(row: unknown): string {
  return JSON.stringify(row);
}

function listAfter<Row>(before: readonly Row[] = [], change: ListChange<Row> | undefined): readonly Row[] {
  if (change === undefined) return before;
  const { drop, keep, add } = change;
  return [...before.slice(drop, drop + keep), ...add];
}
