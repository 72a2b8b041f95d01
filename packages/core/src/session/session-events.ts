import { describeValue, invalidArgument, type HoldfastError, type StateFormatError } from '../errors.ts';
import type { HookResult } from '../loop/hooks/hook.ts';
import { checkHookMembers, type MemberNames } from '../loop/hooks/hook-members.ts';
import { withStopKept } from '../loop/stopping/final-stop.ts';
import { AgentSession } from './session.ts';
import type { SessionConflictError } from './session-errors.ts';
import type { InboxItem } from './session-claim.ts';

/** An event of a session. The events of its agent's run are `AgentEvent`s. */
export type SessionEvent = { readonly session: AgentSession } &
  /** The store returned the session, or saved it. */
  (
    | { readonly type: 'session-loaded' | 'session-saved' }
    /** The store refused a save with this error; `session` was not saved. */
    | { readonly type: 'session-conflict'; readonly error: SessionConflictError }
    /**
     * A save during a run failed because the store was unavailable or throttled. The run continues, because
     * `onSaveFailure` is `continue`, and the next checkpoint saves.
     */
    | { readonly type: 'session-save-failed'; readonly error: unknown }
    /** An inbox item had no effect, such as a second decision on a call. The next save removes it from the inbox. */
    | { readonly type: 'inbox-item-ignored'; readonly item: InboxItem; readonly reason: string }
    /**
     * An inbox item is damaged, or a newer release wrote it. It stays in the inbox. The event is reported once per claim.
     */
    | { readonly type: 'inbox-item-unreadable'; readonly position: number; readonly error: StateFormatError }
    /**
     * The event loop of the worker stood still for more than a third of a lease, perhaps because of this session. The session
     * is suspect when the worker releases it, as after the death of the worker. Each session that the worker holds has the
     * event.
     */
    | { readonly type: 'worker-stood-still'; readonly error: HoldfastError }
    /** A hook threw after the store had saved the session. The session stays saved. */
    | {
        readonly type: 'session-hook-failed';
        readonly hook: 'afterCreate' | 'afterSave';
        readonly error: unknown;
      }
  );

/**
 * Hooks that the runtime calls around loads and saves. A hook can return a changed copy of its session, which replaces
 * the session and is saved. A hook that throws before a write prevents the write, and the call rejects. `afterCreate`
 * and `afterSave` follow a write and prevent nothing: the call continues, and the runtime reports what they throw as
 * the event `session-hook-failed`.
 */
export interface SessionHooks {
  /** Called before a session or a fork is created, and before the `beforeSave` of that write. */
  beforeCreate?(session: AgentSession): HookResult<AgentSession>;
  /** Called after a session was created, and after the `afterSave` of that write. */
  afterCreate?(session: AgentSession): HookResult<void>;
  /** Called after every load. Its changes cause no save; the next save stores them. */
  afterLoad?(session: AgentSession): HookResult<AgentSession>;
  /** Called after the action, before the last save. */
  afterAction?(session: AgentSession): HookResult<AgentSession>;
  /**
   * Called before every write of a session, its creation included. A run whose state the hook changes continues from
   * the changed state, as a resumed run does: hooks of the loop receive `beforeExecution` again.
   */
  beforeSave?(session: AgentSession): HookResult<AgentSession>;
  /** Called after every write of a session, its creation included. The run waits for it. */
  afterSave?(session: AgentSession): HookResult<void>;
}

const LOOP_HOOK = 'pass it to the loop, as in createAgentLoop({ driver, hooks: [hook] })';

const HOOKS: MemberNames = {
  functions: [
    'beforeCreate',
    'afterCreate',
    'afterLoad',
    'afterAction',
    'beforeSave',
    'afterSave',
  ] satisfies (keyof SessionHooks)[],
  values: [],
  advice: {
    beforeLoad: 'use "afterLoad", which can change the loaded session',
    onLoad: 'use "afterLoad"',
    onSave: 'use "afterSave"',
    onCreate: 'use "afterCreate"',
    beforeDelete: 'deletions have no hook',
    afterDelete: 'deletions have no hook',
    beforeStep: LOOP_HOOK,
    beforeToolUse: LOOP_HOOK,
  },
};

/**
 * Refuses hooks that are not functions, and unknown names that begin with `before` or `after`: they would never be
 * called. Other members of the object are ignored.
 * @throws TypeError `ARGUMENT_INVALID`
 */
export function checkHooks(hooks: SessionHooks): void {
  checkHookMembers(hooks, 'hooks', HOOKS);
}

/**
 * Calls a session hook, and returns the session that it returned, or the session that it received. The hook lifts no stop.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` when the hook returns something else; what the hook throws.
 */
export async function callSessionHook(
  hooks: SessionHooks,
  name: 'beforeCreate' | 'afterLoad' | 'afterAction' | 'beforeSave',
  session: AgentSession,
): Promise<AgentSession> {
  const returned = await hooks[name]?.(session);
  if (returned === undefined || returned === session) return session;
  const changed = requireSession(returned, session, `The session hook ${name}`);
  return changed.withState(withStopKept(session.state, changed.state));
}

/**
 * Returns what became of a session. The id and the owner of a stored session never change.
 * @throws TypeError `ARGUMENT_INVALID` for a value that is not a session; RangeError `ARGUMENT_INVALID` for another session.
 */
export function requireSession(returned: unknown, received: AgentSession, who: string): AgentSession {
  if (!(returned instanceof AgentSession))
    throw invalidArgument(`${who} must return a session, found ${describeValue(returned)}.`, TypeError);
  const isSame = returned.sessionId === received.sessionId && returned.owner === received.owner;
  if (isSame || received.version === 0) return returned;
  throw invalidArgument(`${who} must return the session that it received, with the same id and owner.`);
}

/**
 * Calls a hook after a write, and reports what the hook throws. If the call rejected, its caller would repeat work that
 * is done.
 */
export async function callHookAfterWrite(
  parts: { readonly hooks: SessionHooks; readonly report: (event: SessionEvent) => void },
  hook: 'afterCreate' | 'afterSave',
  session: AgentSession,
): Promise<void> {
  try {
    await parts.hooks[hook]?.(session);
  } catch (error) {
    parts.report({ type: 'session-hook-failed', session, hook, error });
  }
}
