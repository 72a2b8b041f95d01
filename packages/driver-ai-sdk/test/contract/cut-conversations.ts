import { AgentState, createAgentLoop, tool, type FinishReason, type Hook } from '@holdfast/core';
import type { AssistantPart } from '@holdfast/core/driver';
import { scriptedDriver, steppedClock, type ScriptedAnswer } from '@holdfast/core/testing';
import fc from 'fast-check';

/** A part of a response: its kind, a number for its id, and a tool. The numbers are few, so that ids repeat. */
interface Said {
  readonly kind: (typeof KINDS)[number];
  readonly id: number;
  readonly toolName: string;
}

const KINDS = [
  'text',
  'empty',
  'reasoning',
  'call',
  'call',
  'call',
  'search',
  'open',
  'found',
  'source',
] as const;
const TOOLS = ['works', 'works', 'fails', 'blocked', 'denied', 'unknown'] as const;

const said = fc.record<Said>({
  kind: fc.constantFrom(...KINDS),
  id: fc.nat(2),
  toolName: fc.constantFrom(...TOOLS),
});
const finishReasons = fc.constantFrom<(FinishReason | undefined)[]>(
  undefined,
  undefined,
  undefined,
  'length',
  'content-filter',
  'other',
);
const turn = fc.record({
  parts: fc.array(said, { maxLength: 5 }),
  finishReason: finishReasons,
  isLost: fc.nat(9).map((number) => number === 0),
});
const cut = fc.record({ how: fc.constantFrom('nothing', 'crash', 'abort'), at: fc.nat(60) });
const edit = fc.record({
  how: fc.constantFrom('nothing', 'nothing', 'window', 'twice', 'summary'),
  from: fc.nat(5),
  to: fc.nat(12),
});
/** The history of an agent: its responses, the point of interruption, the edits of the history, and the later messages. */
export const histories = fc.record({
  turns: fc.array(turn, { minLength: 1, maxLength: 5 }),
  cut,
  edit,
  more: fc.array(turn, { maxLength: 2 }),
  /** The index of the compiler after the interruption. */
  compiler: fc.nat(),
});
/** One history. */
export type History = typeof histories extends fc.Arbitrary<infer T> ? T : never;
type Turn = History['more'][number];

/** Converts turns to scripted responses, in which each item has a unique OpenAI id. */
export function script(turns: readonly Turn[]): ScriptedAnswer[] {
  return turns.map(({ parts, finishReason, isLost }): ScriptedAnswer => {
    if (isLost) return new Error('The connection was lost.');
    return { content: parts.flatMap(partsOf), ...(finishReason && { finishReason, rawFinishReason: 'raw' }) };
  });
}

let items = 0;
/** The item of a search without a result of the provider yet. */
let openSearch = 'none';
const item = (kind: string) => ({ providerOptions: { openai: { itemId: `${kind}_${items++}` } } });

function partsOf({ kind, id, toolName }: Said): AssistantPart[] {
  switch (kind) {
    case 'text':
      return [{ type: 'text', text: 'Hm.', ...item('msg') }];
    case 'empty':
      return [{ type: 'text', text: '' }];
    case 'reasoning':
      return [{ type: 'reasoning', text: 'Why not?', ...item('rs') }];
    case 'source':
      return [{ type: 'source', source: { url: 'https://a.example' } }];
    case 'call':
      return [{ type: 'tool-call', toolCallId: `call_${id}`, toolName, input: { id }, ...item('fc') }];
    case 'search':
      return [search(), found()];
    case 'open':
      return [search()];
    case 'found':
      return [found()];
  }
}

function search(): AssistantPart {
  openSearch = `search_${items++}`;
  const call = { toolCallId: openSearch, toolName: 'search', input: {}, providerExecuted: true };
  return { type: 'tool-call', ...call, ...item('ws') };
}

function found(): AssistantPart {
  const toolCallId = openSearch;
  openSearch = 'none';
  return { type: 'tool-result', toolCallId, toolName: 'search', output: { type: 'json', value: [] } };
}

/** The tools that a model can call. It also calls the tool `unknown`, which does not exist. */
export const tools = ['works', 'fails', 'blocked', 'denied'].map((name) =>
  tool({
    name,
    description: name,
    inputSchema: { type: 'object' },
    execute: async () => {
      await Promise.resolve();
      if (name === 'fails') throw new Error('no luck');
      return { name };
    },
  }),
);

/** Blocks the calls of one tool, and sets the outcome `denied` for the calls of another tool. */
export const gate: Hook = {
  beforeToolUse: ({ toolName }) => (toolName === 'blocked' ? { block: 'not today' } : undefined),
  afterToolUse: (execution, { clock }) => {
    if (execution.name !== 'denied') return undefined;
    const error = { name: 'Denied', message: 'No.' };
    return { toolExecution: execution.withOutcome({ type: 'denied', error }, clock.now()) };
  },
};

/**
 * The state that another process loads: after the end, an abort or a crash of the run, with the edits and a new user
 * message.
 */
export async function leftBehind({ turns, cut: { how, at }, edit }: History): Promise<AgentState> {
  openSearch = 'none';
  const states: AgentState[] = [];
  const abort = new AbortController();
  const loop = createAgentLoop({
    driver: scriptedDriver(...script(turns), 'Done.'),
    tools,
    hooks: [gate],
    budget: { maxSteps: 4 },
    clock: steppedClock(),
    listeners: [
      ({ state }) => {
        states.push(state);
        if (how === 'abort' && states.length === at + 1) abort.abort();
      },
    ],
  });
  const end = await loop.run(AgentState.empty().withUserMessage('Go'), { signal: abort.signal });
  const left = how === 'crash' ? (states[at % states.length] ?? end) : end;
  const found = AgentState.fromJSON(JSON.parse(JSON.stringify(left)));
  return edited(found, edit).withUserMessage('And now?');
}

function edited(state: AgentState, { how, from, to }: History['edit']): AgentState {
  const messages = [...state.messages];
  if (how === 'window') return state.withMessages(messages.slice(from, to));
  if (how === 'twice') return state.withMessages([...messages, ...messages]);
  if (how !== 'summary') return state;
  return state.withMessageStore(
    state.store
      .withSection('summary', messages.slice(from, to))
      .withSection('messages', messages.slice(from + 1)),
  );
}
