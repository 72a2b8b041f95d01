import assert from 'node:assert/strict';
import { pendingApprovals, type SessionStore } from '@holdfast/core';
import type { EngineContext } from './engine-case.ts';
import type { Act } from './recorded-advances.ts';
import { sessionWorld, type SessionWorld } from './session-world.ts';

/**
 * The methods that the runtime calls on a session. Before and after each call is a point at which a decision can
 * arrive.
 */
const STEPS: readonly string[] = ['claim', 'save', 'renew', 'release'] satisfies (keyof SessionStore)[];

/** A point that the work never passes. A decider with this point acts at the end, when no work is running. */
const LAST = Number.POSITIVE_INFINITY;

/** The points at which a person acts. Points are counted from the first at which the session waits for approval. */
interface Decider {
  readonly sessionId: string;
  /** The point at which the decision is enqueued. */
  readonly decidesAt: number;
  /** The point at which the decision is enqueued again, as after a double click, and the session is woken. */
  readonly wakesAt: number;
  passed: number;
}

/** Sessions that wait for approval. Each session has its own points for the decision and the wake-up. */
export class InterleavedApprovals {
  readonly world: SessionWorld;
  private readonly engine: EngineContext['engine'];
  private readonly deciders = new Map<string, Decider>();

  constructor(engine: EngineContext['engine']) {
    this.engine = engine;
    this.world = sessionWorld((store) => this.watched(store));
  }

  /** Advances a session, and passes one more point: the advance has returned, but the engine has no result yet. */
  readonly work: Act = async ({ sessionId, signal }) => {
    const result = await this.world.runtime.advance(sessionId, { signal });
    await this.pass(sessionId);
    return result;
  };

  async ask(decidesAt = LAST, wakesAt = LAST): Promise<string> {
    const sessionId = `decided at ${decidesAt}, woken at ${wakesAt}`;
    await this.world.asked('asker', sessionId);
    this.deciders.set(sessionId, { sessionId, decidesAt, wakesAt, passed: 0 });
    await this.engine.wake(sessionId);
    return sessionId;
  }

  passedBy(sessionId: string): number {
    return this.deciders.get(sessionId)?.passed ?? 0;
  }

  async isAsked(sessionId: string): Promise<boolean> {
    return (await this.asked(sessionId)) !== undefined;
  }

  /** Acts for all deciders that have not acted yet. The caller ensures that no work is running. */
  async decideRest(): Promise<void> {
    for (const decider of this.deciders.values()) {
      const { decidesAt, wakesAt, passed } = decider;
      if (passed <= decidesAt) await this.decide(decider, 'first');
      if (passed <= wakesAt) await this.wake(decider);
    }
  }

  private watched(store: SessionStore): SessionStore {
    return new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        const method = member.bind(target) as (...args: unknown[]) => Promise<unknown>;
        if (!STEPS.includes(String(name))) return method;
        return async (subject: string | { readonly sessionId: string }, ...rest: unknown[]) => {
          const sessionId = typeof subject === 'string' ? subject : subject.sessionId;
          await this.pass(sessionId);
          const result = await method(subject, ...rest);
          await this.pass(sessionId);
          return result;
        };
      },
    });
  }

  private async pass(sessionId: string): Promise<void> {
    const decider = this.deciders.get(sessionId);
    const isWaiting = decider && (decider.passed > 0 || (await this.isAsked(sessionId)));
    if (!isWaiting) return;
    const point = decider.passed++;
    if (point === decider.decidesAt) await this.decide(decider, 'first');
    if (point === decider.wakesAt) await this.wake(decider);
  }

  private async wake(decider: Decider): Promise<void> {
    await this.decide(decider, 'second');
    await this.engine.wake(decider.sessionId);
  }

  private async decide({ sessionId }: Decider, id: string): Promise<void> {
    const toolExecutionId = await this.asked(sessionId);
    if (toolExecutionId === undefined) return;
    const decision = { type: 'decision', toolExecutionId, decision: 'approved' } as const;
    await this.world.store.enqueue(sessionId, { id, content: decision });
  }

  private async asked(sessionId: string): Promise<string | undefined> {
    const session = await this.world.store.load(sessionId);
    assert(session);
    return pendingApprovals(session.state)[0]?.id;
  }
}
