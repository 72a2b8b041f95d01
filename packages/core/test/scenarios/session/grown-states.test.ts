import assert from 'node:assert/strict';
import {
  AgentSession,
  AgentState,
  allSections,
  assistantMessage,
  conversationWithCurrentToolTrace,
  messageCompiler,
  selectedSections,
  systemMessage,
  ToolExecution,
  type Clock,
  type ErrorRecord,
  type FinishReason,
  type Instant,
  type Message,
  type MessageCompiler,
  type Messages,
  type ToolOutcome,
} from '@holdfast/core';
import {
  InferenceResponse,
  toolMessage,
  type AssistantMessage,
  type AssistantPart,
} from '@holdfast/core/driver';
import { applyOutcome, ExecutionId, newStepMessageIds, StepId, ToolExecutionId } from '@holdfast/core/engine';
import {
  applySavePlan,
  planSave,
  restoreSession,
  type SavePlan,
  type SessionContent,
} from '@holdfast/core/store';
import { steppedClock } from '@holdfast/core/testing';
import fc from 'fast-check';
import { test } from 'vitest';
import { cases } from '../../../../../tools/config/vitest.properties.ts';
import { planUndo } from '../../../src/session/store/content/save-plan.ts';
import { START } from '../../support/arbitraries.ts';
import { readBack } from '../../support/builders.ts';

// What was worked out about a state is kept with its lists, for the states that grow from it. A copy of the state has no
// such notes: it must compile, repair and save to the same.

// What happens to a state, as data

type Ending = 'nothing' | 'close' | 'cutOff' | 'answer';

type Change =
  | { readonly type: 'told' }
  | {
      readonly type: 'step';
      readonly compiler: number;
      readonly words: readonly string[];
      /** What becomes of each call; those after the last are not run. */
      readonly outcomes: readonly ToolOutcome[];
      readonly ending: Ending;
      readonly reason: FinishReason | undefined;
    }
  | { readonly type: 'answered' }
  | { readonly type: 'nextExecution' }
  | { readonly type: 'failed' }
  | { readonly type: 'window'; readonly from: number; readonly to: number }
  | { readonly type: 'left out'; readonly nth: number }
  | { readonly type: 'repeated'; readonly nth: number }
  | { readonly type: 'said again in other words'; readonly nth: number; readonly words: readonly string[] }
  | { readonly type: 'put in its place'; readonly nth: number; readonly words: readonly string[] }
  | { readonly type: 'imported'; readonly words: readonly string[]; readonly id: string | undefined }
  | { readonly type: 'reminded' }
  | { readonly type: 'summarized'; readonly count: number }
  | { readonly type: 'section dropped' }
  | { readonly type: 'history of another'; readonly nth: number }
  | { readonly type: 'forked'; readonly to: number }
  | { readonly type: 'restarted' };

/** A change, and the state that it is made to: the last one, or one before. */
interface Move {
  readonly change: Change;
  readonly back: number;
  /** Is the state compiled afterwards, by all compilers, which leaves notes? */
  readonly isLookedAt: boolean;
}

const words = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant('x') },
    { weight: 3, arbitrary: fc.constantFrom('1', '2') },
    { weight: 4, arbitrary: fc.nat(99).map((n) => `call ${n}`) },
    { weight: 2, arbitrary: fc.constantFrom('<1', '>1', '<2', '>2') },
    { weight: 2, arbitrary: fc.constantFrom('r', 'e', 'c') },
  ),
  { maxLength: 3 },
);
const NO: ErrorRecord = { name: 'Error', message: 'no' };
const outcomes = fc.array(
  fc.constantFrom<ToolOutcome>(
    { type: 'succeeded', value: 'done' },
    { type: 'failed', error: NO },
    { type: 'blocked', error: NO },
    { type: 'denied', error: NO },
    { type: 'interrupted', error: NO },
  ),
  { maxLength: 3 },
);
const nth = fc.nat(8);

function change<T extends Change['type']>(
  weight: number,
  type: T,
  fields: {
    [K in keyof Omit<Extract<Change, { type: T }>, 'type'>]: fc.Arbitrary<Extract<Change, { type: T }>[K]>;
  },
) {
  const all = { type: fc.constant(type), ...fields };
  return { weight, arbitrary: fc.record(all as never, { noNullPrototype: true }) as fc.Arbitrary<Change> };
}

const changes: fc.Arbitrary<Change> = fc.oneof(
  change(6, 'told', {}),
  change(14, 'step', {
    compiler: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(3) }),
    words,
    outcomes,
    ending: fc.constantFrom<Ending>('close', 'close', 'close', 'nothing', 'cutOff'),
    reason: fc.constantFrom<(FinishReason | undefined)[]>(undefined, undefined, 'length', 'aborted', 'error'),
  }),
  change(6, 'answered', {}),
  change(6, 'nextExecution', {}),
  change(1, 'failed', {}),
  change(1, 'window', { from: fc.nat(3), to: fc.nat(20) }),
  change(1, 'left out', { nth }),
  change(1, 'repeated', { nth }),
  change(1, 'said again in other words', { nth, words }),
  change(1, 'put in its place', { nth, words }),
  change(1, 'imported', { words, id: fc.constantFrom('1', 'call 1', undefined) }),
  change(1, 'reminded', {}),
  change(1, 'summarized', { count: fc.nat(6) }),
  change(1, 'section dropped', {}),
  change(3, 'history of another', { nth: fc.nat(4) }),
  change(2, 'forked', { to: fc.nat(12) }),
  change(1, 'restarted', {}),
);
const histories: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.record(
    {
      change: changes,
      isLookedAt: fc.boolean(),
      back: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(9) }),
    },
    { noNullPrototype: true },
  ),
  { minLength: 1, maxLength: 40, size: 'max' },
);

const CALL = /^(call )?\w+$/;

function part(word: string): AssistantPart {
  if (word.startsWith('<')) return { ...call(word.slice(1)), providerExecuted: true };
  if (word.startsWith('>')) return { ...resultOf(word.slice(1)) };
  if (word === 'e') return { type: 'text', text: '' };
  if (word === 'r') return { type: 'reasoning', text: 'hm' };
  if (word === 'c') return { type: 'source', source: { url: 'https://a.example' } };
  return word === 'x' ? { type: 'text', text: word } : call(word);
}

function call(toolCallId: string): Extract<AssistantPart, { readonly type: 'tool-call' }> {
  return { type: 'tool-call', toolCallId, toolName: 'work', input: {} };
}

function resultOf(toolCallId: string): Extract<AssistantPart, { readonly type: 'tool-result' }> {
  return { type: 'tool-result', toolCallId, toolName: 'work', output: { type: 'text', value: 'done' } };
}

// States, and what is known of them

/** A session as it was saved. */
interface Kept {
  readonly session: AgentSession;
  readonly saved: SessionContent;
}

type ExpectSame = (actual: unknown, expected: unknown) => void;

const withoutEveryThird = (messages: Messages): Message[] =>
  messages.toArray().filter((_, index) => index % 3 !== 2);

class World {
  private readonly clock: Clock = steppedClock();
  private at: Instant = START;
  private readonly compilers: readonly MessageCompiler[] = [
    conversationWithCurrentToolTrace(),
    allSections(),
    selectedSections(['summary', 'messages']),
    messageCompiler(conversationWithCurrentToolTrace(), withoutEveryThird),
  ];
  private readonly kept: Kept[] = [];
  private last: Kept;
  private readonly expectSame: ExpectSame;

  constructor(expectSame: ExpectSame) {
    this.expectSame = expectSame;
    const state = AgentState.empty({ agentId: this.clock.newId(), at: this.at });
    const session = AgentSession.create({ definition: { name: 'a' }, state, clock: this.clock, at: START });
    this.last = this.save(session, undefined);
  }

  take({ change: done, back, isLookedAt }: Move): void {
    this.at += 1;
    const before = this.kept.at(-1 - back) ?? this.last;
    const state = this.changed(before.session.state, done);
    this.last = this.save(before.session.withState(state), before);
    if (done.type === 'restarted') this.last = this.restored(this.last);
    this.kept.push(this.last);
    if (isLookedAt) this.compare(state, before.session.state.lastStep?.input);
  }

  private compare(state: AgentState, unrelated: Messages | undefined): void {
    const copy = readBack(state);
    for (const compiler of this.compilers) {
      const compiled = this.compile(compiler, state, copy);
      this.expectSame(compiler(state), compiled);
      this.expectSame(compiler(state, unrelated), compiled);
    }
    this.expectSame(JSON.stringify(state), JSON.stringify(copy));
  }

  /** What a state compiles to, and its copy as well. */
  private compile(compiler: MessageCompiler, state: AgentState, copy = readBack(state)): Messages {
    const compiled = compiler(state);
    this.expectSame(compiled, compiler(copy));
    return compiled;
  }

  private save(changed: AgentSession, base: Kept | undefined): Kept {
    const session = changed.withRevision({ incarnation: 'i', version: changed.version + 1 }, this.at);
    const plan = planSave(session, base?.session);
    const kept = { session, saved: applySavePlan(base?.saved, plan) };
    this.expectSame(this.restored(kept).session, session);
    if (base) this.compareUndone(kept, base, plan);
    return kept;
  }

  /** Asserts that the undo of a plan gives the session before. */
  private compareUndone({ saved }: Kept, base: Kept, plan: SavePlan): void {
    const undo = planUndo(base.session, plan);
    if (undo === undefined) return;
    const undone = { session: base.session, saved: applySavePlan(saved, undo) };
    this.expectSame(this.restored(undone).session, base.session);
  }

  /** As another process finds it. */
  private restored({ session: { info }, saved }: Kept): Kept {
    return { session: restoreSession(saved, info, 'i'), saved };
  }

  private changed(state: AgentState, done: Change): AgentState {
    const { at, clock } = this;
    const messages = state.messages.toArray();
    const chosen = 'nth' in done ? messages.at(-1 - done.nth) : undefined;
    switch (done.type) {
      case 'told':
        return state.withUserMessage('u', { clock }, at);
      case 'step':
        return this.stepped(state, done);
      case 'answered':
        return this.finished(this.stepped(state, { ...ANSWER, compiler: 0 }));
      case 'nextExecution':
        return this.begun(this.finished(state).forNextExecution(at).withUserMessage('u', { clock }, at));
      case 'failed':
        return state.execution ? state.withFailure(new Error('no luck'), at) : state;
      case 'window':
        return state.withMessages(messages.slice(done.from, done.to), at);
      case 'left out':
        return state.withMessages(
          messages.filter((message) => message !== chosen),
          at,
        );
      case 'repeated':
        return chosen ? state.withMessages([...messages, chosen], at) : state;
      case 'said again in other words': {
        if (chosen?.role !== 'assistant') return state;
        return state.withMessages([...messages, reworded(chosen, done.words)], at);
      }
      case 'put in its place': {
        if (chosen?.role !== 'assistant') return state;
        const other = reworded(chosen, done.words);
        return state.withMessages(
          messages.map((message) => (message === chosen ? other : message)),
          at,
        );
      }
      case 'imported':
        return state.withMessages([...messages, ...this.imported(done)], at);
      case 'reminded':
        return state.withMessages([systemMessage('s', { clock }), ...messages], at);
      case 'summarized': {
        const store = state.store.append('summary', messages.slice(0, done.count));
        return state.withMessageStore(store.withSection('messages', messages.slice(done.count)), at);
      }
      case 'section dropped':
        return state.withMessageStore(state.store.withoutSection('summary'), at);
      case 'history of another': {
        const other = this.kept.at(-1 - done.nth);
        return other ? state.withMessageStore(other.session.state.store, at) : state;
      }
      case 'forked':
        return this.begun(state.fork({ at, clock }).withMessages(messages.slice(0, done.to), at));
      case 'restarted':
        return state;
    }
  }

  private begun(state: AgentState): AgentState {
    return applyOutcome(state, { type: 'started', executionId: ExecutionId.create(this.clock), at: this.at });
  }

  private finished(state: AgentState): AgentState {
    return state.hasActiveExecution ? applyOutcome(state, { type: 'finished', at: this.at }) : state;
  }

  private stepped(
    from: AgentState,
    { compiler, words: said, outcomes: ends, ending, reason }: typeof ANSWER,
  ): AgentState {
    const { at, clock } = this;
    let state = from.hasActiveExecution ? from : this.begun(from);
    state = applyOutcome(state, { type: 'stepClosed', messageIds: newStepMessageIds(clock), at });
    const input = this.compile(this.compilers[compiler] as MessageCompiler, state);
    state = applyOutcome(state, { type: 'stepBegun', stepId: StepId.create(clock), input, at });
    if (ending === 'cutOff') return state;
    const init = { content: said.map(part), ...(reason && { finishReason: reason }) };
    state = applyOutcome(state, { type: 'inferred', response: InferenceResponse.of(init), at });
    for (const outcome of ends) {
      const [pending] = state.currentStep?.pendingToolCalls ?? [];
      if (pending === undefined) break;
      const running = ToolExecution.start(pending, at, ToolExecutionId.create(clock));
      state = applyOutcome(state, { type: 'toolsAdvanced', toolExecutions: [running], at });
      state = applyOutcome(state, {
        type: 'toolsAdvanced',
        toolExecutions: [running.withOutcome(outcome, at)],
        at,
      });
    }
    if (ending === 'nothing') return state;
    return applyOutcome(state, { type: 'stepClosed', messageIds: newStepMessageIds(clock), at });
  }

  /** Messages of another system. */
  private imported({ words: said, id }: Extract<Change, { type: 'imported' }>): Message[] {
    const { clock } = this;
    const options = { clock };
    const calls = said.filter((word) => CALL.test(word) && part(word).type === 'tool-call');
    const answer = assistantMessage(said.map(part), { ...options, ...(id && { id }) });
    return calls.length === 0 ? [answer] : [answer, toolMessage(calls.map(resultOf), options)];
  }
}

const ANSWER: Omit<Extract<Change, { type: 'step' }>, 'type'> = {
  compiler: 0,
  words: ['x'],
  outcomes: [],
  ending: 'close',
  reason: undefined,
};

function reworded(answer: AssistantMessage, said: readonly string[]): Message {
  return { ...answer, content: said.map(part) };
}

test('a state with cached results compiles, repairs and saves to the same as a fresh copy', () => {
  fc.assert(
    fc.property(histories, (moves) => {
      const world = new World((actual, expected) => assert.deepStrictEqual(actual, expected));
      for (const move of moves) world.take(move);
    }),
    cases(300),
  );
});
