import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { AgentSession, AgentState, MemorySessionStore, type AgentEvent } from '@holdfast/core';
import { SessionWatcher, type SessionView } from '@holdfast/core/channel';
import type { ClaimedSession } from '@holdfast/core/store';
import { ExecutionId } from '@holdfast/core/engine';
import { manualClock } from '@holdfast/core/testing';
import fc from 'fast-check';
import { test } from 'vitest';
import { expectedResponse } from '../../../src/channel/partial-response.ts';
import { SessionPublisher } from '../../../src/channel/session-publisher.ts';
import { cases } from '../../../../../tools/config/vitest.properties.ts';
import { anyMove, applyMove, busyHistories, START, type Move } from '../../support/arbitraries.ts';
import { FaultyChannel, type Fate } from '../../support/faulty-channel.ts';

/** An event in the work on a session, by its worker or an earlier one. */
type Turn =
  | { readonly type: 'move'; readonly move: Move; readonly isFrozen: boolean }
  | { readonly type: 'text'; readonly count: number; readonly isFrozen: boolean }
  | { readonly type: 'save' | 'replaced' | 'joins' | 'quick' }
  | { readonly type: 'wait'; readonly milliseconds: number };

const isFrozen = fc.oneof(
  { weight: 9, arbitrary: fc.constant(false) },
  { weight: 1, arbitrary: fc.constant(true) },
);
const moves = fc.oneof(
  anyMove,
  busyHistories.map((history) => history[0] as Move),
);
const turns: fc.Arbitrary<Turn> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ type: fc.constant('move' as const), move: moves, isFrozen }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('text' as const),
      count: fc.integer({ min: 1, max: 3 }),
      isFrozen,
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('save' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom('replaced' as const, 'joins' as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('wait' as const),
      milliseconds: fc.constantFrom(0, 50, 50, 50, 1_000, 5_000),
    }),
  },
);
const fates = fc.array(
  fc.oneof<[fc.WeightedArbitrary<Fate>, fc.WeightedArbitrary<Fate>]>(
    { weight: 2, arbitrary: fc.constant<Fate>('arrives') },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Fate[]>(
        'lost',
        'refused',
        'unanswered',
        'twice',
        'held',
        'gap',
        'tail lost',
      ),
    },
  ),
  { maxLength: 30, size: 'max' },
);

interface Worker {
  readonly claimed: ClaimedSession;
  readonly publisher: SessionPublisher;
  session: AgentSession;
}

interface Reader {
  last: SessionView | undefined;
  readonly done: Promise<void>;
}

/** A session, the workers that have held it, and readers of it. */
class World {
  private readonly clock = manualClock(START);
  private readonly store = new MemorySessionStore({ clock: this.clock });
  private readonly channel: FaultyChannel;
  private readonly abortController = new AbortController();
  private readonly workers: Worker[] = [];
  /** Every state that a worker had. */
  private readonly states = new Map<string, AgentState>();
  /** Every text that a model has written, by step, attempt and worker. */
  private readonly texts = new Map<string, string>();
  private readonly readers: Reader[] = [];

  constructor(planned: readonly Fate[]) {
    this.channel = new FaultyChannel(planned);
  }

  async begin(): Promise<void> {
    const state = AgentState.empty({ agentId: this.clock.newId(), at: START });
    const init = { definition: { name: 'a' }, state, clock: this.clock, sessionId: 's' };
    await this.store.create(AgentSession.create(init));
    this.note(state);
    await this.claim();
    this.join();
  }

  async take(turn: Turn): Promise<void> {
    const worker = ('isFrozen' in turn && turn.isFrozen ? this.workers.at(-2) : undefined) ?? this.worker;
    if (turn.type === 'move') this.move(worker, turn.move);
    if (turn.type === 'text') for (let index = 0; index < turn.count; index++) this.write(worker);
    if (turn.type === 'save') await this.save();
    if (turn.type === 'joins') this.join();
    if (turn.type === 'replaced') await this.claim();
    if (turn.type === 'wait') await this.wait(turn.milliseconds);
  }

  /** Ends the work without further faults. Returns the session in the store, and the last view of each reader. */
  async finish(): Promise<{ stored: AgentSession | undefined; views: (SessionView | undefined)[] }> {
    this.channel.heal();
    await this.save();
    this.worker.publisher.close();
    for (const milliseconds of [50, 1_000, 1_000, 5_000, 5_000]) await this.wait(milliseconds);
    this.abortController.abort();
    await Promise.all(this.readers.map(({ done }) => done));
    return { stored: await this.store.load('s'), views: this.readers.map(({ last }) => last) };
  }

  private get worker(): Worker {
    return this.workers.at(-1) as Worker;
  }

  private async wait(milliseconds: number): Promise<void> {
    await settled();
    this.clock.advance(milliseconds);
    await settled();
  }

  private async claim(): Promise<void> {
    this.clock.advance(this.workers.length === 0 ? 0 : 31_000);
    const options = { workerId: `w${this.workers.length}`, leaseSeconds: 30 };
    const claimed = await this.store.claim('s', options);
    const { claim, session } = claimed;
    const { clock, channel } = this;
    const { sessionId, incarnation, epoch } = claim;
    const publisher = new SessionPublisher({ channel, clock, sessionId, incarnation, epoch }, session);
    this.workers.push({ claimed, publisher, session });
    await settled();
  }

  private move(worker: Worker, move: Move): void {
    const { session, publisher } = worker;
    const state = applyMove(session.state, move, this.clock.now(), this.clock);
    worker.session = session.withState(state);
    this.note(state);
    const { executionId = ExecutionId.create(this.clock) } = state;
    publisher.receive({ type: 'execution-resumed', at: 0, state, executionId, attempt: 1 });
  }

  private write({ session: { state }, publisher, claimed: { claim } }: Worker): void {
    const response = expectedResponse(state);
    if (response === undefined) return;
    const name = `${response.stepId}/${response.attempt}/${claim.epoch}`;
    const known = this.texts.get(name) ?? '';
    const text = `${claim.epoch}:${known.length},`;
    this.texts.set(name, known + text);
    const delta = { type: 'text', id: '0', text } as const;
    const event = { type: 'inference-delta', stepId: response.stepId, delta, at: 0, state };
    publisher.receive(event as AgentEvent);
  }

  private async save(): Promise<void> {
    const { worker } = this;
    const { session, publisher, claimed } = worker;
    publisher.follow(session.state);
    const saved = await this.store.save(session, { epoch: claimed.claim.epoch });
    worker.session = saved.withState(session.state);
    publisher.noteSaved(worker.session);
  }

  private note(state: AgentState): void {
    this.states.set(JSON.stringify(state), state);
  }

  private join(): void {
    const watcher = new SessionWatcher({ store: this.store, channel: this.channel, clock: this.clock });
    const { signal } = this.abortController;
    const read = async (): Promise<void> => {
      for await (const view of watcher.watch('s', { signal })) {
        reader.last = view;
        this.check(view);
      }
    };
    const reader: Reader = { last: undefined, done: Promise.resolve().then(read) };
    reader.done.catch(() => undefined); // finish() waits for it
    this.readers.push(reader);
  }

  /** Equal states can have different documents, when a section has a message twice. */
  private isKnown(state: AgentState): boolean {
    if (this.states.has(JSON.stringify(state))) return true;
    return [...this.states.values()].some((known) => isDeepStrictEqual(known, state));
  }

  /** No worker had another state, and no model has written another text. */
  private check({ session: { state }, partial }: SessionView): void {
    assert(this.isKnown(state), 'a state that no worker had');
    if (partial === undefined) return;
    const names = this.workers.map(
      ({ claimed: { claim } }) => `${partial.stepId}/${partial.attempt}/${claim.epoch}`,
    );
    const texts = names.map((name) => this.texts.get(name) ?? '');
    const [shown, ...others] = partial.parts.map(({ text }) => text);
    assert.deepEqual(others, []);
    assert(shown && texts.some((text) => text.startsWith(shown)), 'a text that no model has written');
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('whatever becomes of workers and batches, a reader ends with the saved state, and shows no state that no worker had', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turns, { maxLength: 60, size: 'max' }), fates, async (plan, planned) => {
      const world = new World(planned);
      await world.begin();
      for (const turn of plan) await world.take(turn);
      const { stored, views } = await world.finish();
      for (const view of views) {
        assert.deepStrictEqual(view?.session.state, stored?.state);
        assert.deepEqual([view?.session.version, view?.isSaved], [stored?.version, true]);
      }
    }),
    cases(150),
  );
});
