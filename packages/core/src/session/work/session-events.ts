import { describeValue, invalidArgument } from '../../errors.ts';
import type { HookResult } from '../../loop/hooks/hook.ts';
import type { MemberNames } from '../../loop/hooks/hook-members.ts';
import { checkHookMembers } from '../../loop/hooks/hook-members.ts';
import type { StateFormatError } from '../../errors.ts';
import { AgentSession } from '../session.ts';
import type { SessionConflictError } from '../session-errors.ts';
import type { InboxItem } from '../session-store.ts';

/** What happened to a session, beside what happened in its agent's run. */
export type SessionEvent =
  /** The store has given the session, or kept it. */
  | { readonly type: 'session-loaded' | 'session-saved'; readonly session: AgentSession }
  /** A save was refused with this error; the session is what was not kept. */
  | {
      readonly type: 'session-conflict';
      readonly session: AgentSession;
      readonly error: SessionConflictError;
    }
  /** A save during a run did not get through; the run goes on, as `onSaveFailure` says, and the next save tries again. */
  | { readonly type: 'session-save-failed'; readonly session: AgentSession; readonly error: unknown }
  /** Something in the inbox changed nothing, such as a decision that was made before. It is gone from there. */
  | {
      readonly type: 'inbox-item-ignored';
      readonly session: AgentSession;
      readonly item: InboxItem;
      readonly reason: string;
    }
  /** An item of the inbox is damaged, or a newer release wrote it. It stays there. Reported once in each piece of work. */
  | {
      readonly type: 'inbox-item-unreadable';
      readonly session: AgentSession;
      readonly position: number;
      readonly error: StateFormatError;
    }
  /** A hook threw after the session was stored. It is stored all the same. */
  | {
      readonly type: 'session-hook-failed';
      readonly session: AgentSession;
      readonly hook: 'afterCreate' | 'afterSave';
      readonly error: unknown;
    };

/**
 * Takes part in what the runtime does with sessions. What a hook returns, a changed copy of the session that it was
 * given, takes the session's place and is kept. A hook that throws prevents the write that it stands before, and the
 * call rejects. `afterCreate` and `afterSave` prevent nothing: the store has written, the call goes on, and what they
 * throw is reported as the event `session-hook-failed`.
 */
export interface SessionHooks {
  /** Before a session is created, a fork too, and before the `beforeSave` of that write. */
  beforeCreate?(session: AgentSession): HookResult<AgentSession>;
  /** After a session was created, and after the `afterSave` of that write. */
  afterCreate?(session: AgentSession): HookResult<void>;
  /** After every load. What it changes is stored by the next save, and causes none. */
  afterLoad?(session: AgentSession): HookResult<AgentSession>;
  /** After the action, before the last save. */
  afterAction?(session: AgentSession): HookResult<AgentSession>;
  /**
   * Before every write of a session, its creation included, and so once a step. A run whose state it changes goes on from
   * the changed state, as a resumed run does: hooks of the loop see `beforeExecution` again.
   */
  beforeSave?(session: AgentSession): HookResult<AgentSession>;
  /** After every write of a session, its creation included. The run waits for it. */
  afterSave?(session: AgentSession): HookResult<void>;
}

const LOOP_HOOK = 'it is a hook of the loop, as in createAgentLoop({ driver, hooks: [hook] })';

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
    beforeLoad: 'a session can be changed once it is loaded: write "afterLoad"',
    onLoad: 'write "afterLoad"',
    onSave: 'write "afterSave"',
    onCreate: 'write "afterCreate"',
    beforeDelete: 'deletions have no hook',
    afterDelete: 'deletions have no hook',
    beforeStep: LOOP_HOOK,
    beforeToolUse: LOOP_HOOK,
  },
};

/**
 * Refuses hooks that are not functions, and names that sound like hooks and are none: they would never be called. Other
 * members are the object's own affair. @throws TypeError `ARGUMENT_INVALID`
 */
export function checkHooks(hooks: SessionHooks): void {
  checkHookMembers(hooks, 'hooks', HOOKS);
}

/** The session that a hook makes of one. @throws TypeError `ARGUMENT_INVALID` for what is none; what the hook throws. */
export async function callSessionHook(
  hooks: SessionHooks,
  name: 'beforeCreate' | 'afterLoad' | 'afterAction' | 'beforeSave',
  session: AgentSession,
): Promise<AgentSession> {
  const returned = await hooks[name]?.(session);
  return returned === undefined ? session : requireSession(returned, `The session hook ${name}`);
}

/** @throws TypeError `ARGUMENT_INVALID` */
export function requireSession(returned: unknown, who: string): AgentSession {
  if (returned instanceof AgentSession) return returned;
  throw invalidArgument(`${who} returns a session, found ${describeValue(returned)}.`, TypeError);
}

/** The store has written: whoever repeated the call, for what a hook throws now, would do all of it twice. */
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
