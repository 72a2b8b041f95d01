import { checkArgument, mustBe, optionsCheck } from '../../arguments.ts';
import type { Clock } from '../../clock.ts';
import { HoldfastError } from '../../errors.ts';
import type { JsonValue } from '../../json.ts';
import { nextAction } from '../../loop/stepper.ts';
import type { LlmConfig } from '../../state/llm-config.ts';
import { MessageStore } from '../../state/messages/message-store.ts';
import type { MessageOptions, UserPart } from '../../state/messages/messages.ts';
import { checkMessageOptions } from '../../state/messages/messages.ts';
import type { MetadataKey } from '../../state/metadata.ts';
import type { Decision } from './approval.ts';
import { withDecision } from './approval.ts';
import { withRetry } from './retry.ts';
import type { InboxContent } from './inbox-content.ts';
import { hasMessage, MESSAGE_CONTENT, withMessage } from './inbox-content.ts';
import type { AgentSession } from '../session.ts';
import type { SessionStatus } from '../session-info.ts';

/** What an action may use. */
export interface ActionContext {
  /**
   * Lets the agent work until it has an answer, waits for somebody, or is aborted. What is to be done is saved before,
   * and the states on the way as the runtime's save policy says. Go on with the session it returns.
   * @throws HoldfastError `AGENT_NOT_FOUND` when the catalog has no loop for the session's agent.
   */
  run(session: AgentSession): Promise<AgentSession>;
  /** Saves now. Go on with the session it returns: it has the next revision, and whatever a hook changed. */
  save(session: AgentSession): Promise<AgentSession>;
  /** The clock of the runtime: where an action takes time and ids from. */
  readonly clock: Clock;
  /** The caller's, as `ExecuteOptions.signal`. A run listens to it by itself. */
  readonly signal: AbortSignal | undefined;
}

/** Something done to a session between loading and saving it. */
export interface SessionAction {
  (session: AgentSession, context: ActionContext): Promise<AgentSession> | AgentSession;
  /** It does not work long, and takes no claim: it is refused while somebody works, and changes what was loaded. */
  readonly isQuick?: boolean;
  /** What is left in the inbox instead, when somebody works on the session. */
  readonly item?: { readonly id?: string | undefined; readonly content: InboxContent };
}

/**
 * Adds a message of the user and lets the agent answer. The message is saved before any work is done on it, but under the
 * save policy `end`. An execution that was left unfinished goes on, and answers the message too; one that only lacks its
 * end is ended first. Should the process die here, `resume()` answers the message. When somebody works on the session, the
 * message is left in its inbox. With an `id`, sending it again is safe: it is said once, and answered if it was not.
 * @throws HoldfastError `SESSION_REFUSED` for a session that is not active; RangeError or TypeError `ARGUMENT_INVALID` at once
 * for an empty message and an unknown option.
 */
export function sendMessage(
  content: string | readonly UserPart[],
  options: MessageOptions = {},
): SessionAction {
  checkArgument('A message', content, MESSAGE_CONTENT);
  const { id, metadata } = checkMessageOptions(options, 'sendMessage');
  return Object.assign(
    async function sendMessageAction(session: AgentSession, context: ActionContext): Promise<AgentSession> {
      requireActive(session);
      if (id !== undefined && hasMessage(session.state, id)) return resume()(session, context);
      const ready = nextAction(session.state).type === 'finish' ? await context.run(session) : session;
      const { clock } = context;
      return context.run(ready.withState(withMessage(ready.state, content, options, clock, clock.now())));
    },
    { item: { id, content: { type: 'message', content, ...(metadata && { metadata }) } as const } },
  );
}

/**
 * Goes on with an execution that was left unfinished. One that is over is not: the session comes back as it was, and
 * the next message begins a new one.
 */
export function resume(): SessionAction {
  return (session, context) => {
    requireActive(session);
    return session.state.hasActiveExecution ? context.run(session) : session;
  };
}

/**
 * Repeats the failed call of the model that the session waits with, now. Takes up a `failed` execution too: its closed steps and
 * their messages stay, its errors are marked as resolved, and a new step begins within the same budget. A session without
 * a failure comes back as it was. While another worker works on the session, the request goes into its inbox.
 * @throws HoldfastError `SESSION_REFUSED` for a session that is not active.
 */
export function retry(): SessionAction {
  return Object.assign(
    async (session: AgentSession, context: ActionContext): Promise<AgentSession> => {
      requireActive(session);
      const state = withRetry(session.state, context.clock.now());
      return state === session.state ? session : context.run(session.withState(state));
    },
    { item: { content: { type: 'retry' } as const } },
  );
}

/** What may be said of a decision. */
export type DecisionOptions = Pick<Decision, 'by' | 'reason'>;

const checkDenial = optionsCheck<DecisionOptions>(
  'deny',
  { by: mustBe.string, reason: mustBe.string },
  { input: 'only an approval can change the arguments' },
);
const checkApproval = optionsCheck<DecisionOptions & Pick<Decision, 'input'>>('approve', {
  by: mustBe.string,
  reason: mustBe.string,
  input: mustBe.anything,
});

/**
 * Lets a call run that waits for approval, and the agent go on. Of several that decide, one does; the tool runs once.
 * @throws HoldfastError `APPROVAL_NOT_FOUND`, `APPROVAL_DECIDED` (also by the time that there was for it), `SESSION_REFUSED`
 * for a session that is not active; SessionBusyError while somebody works on the session, unless `whenBusy` says `enqueue`.
 */
export function approve(
  toolExecutionId: string,
  options: DecisionOptions & Pick<Decision, 'input'> = {},
): SessionAction {
  return decide({ toolExecutionId, decision: 'approved', ...checkApproval(options) });
}

/** Refuses a call that waits for approval: the model reads the reason. @throws as `approve`. */
export function deny(toolExecutionId: string, options: DecisionOptions = {}): SessionAction {
  return decide({ toolExecutionId, decision: 'denied', ...checkDenial(options) });
}

function decide(decision: Decision): SessionAction {
  checkArgument('toolExecutionId', decision.toolExecutionId, mustBe.string);
  return Object.assign(
    (session: AgentSession, context: ActionContext): Promise<AgentSession> => {
      requireActive(session);
      return context.run(session.withState(withDecision(session.state, decision, context.clock.now())));
    },
    { item: { content: { type: 'decision', ...decision } as const } },
  );
}

/**
 * Forgets all that was said and done: the messages of every section, such as a summary of the conversation too, and the
 * execution, one in progress included. Keeps the system prompt, the model, the response format and the metadata.
 */
export function clearHistory(): SessionAction {
  return quick((session, { clock }) => {
    const at = clock.now();
    return session.withState(session.state.forNextExecution(at).withMessageStore(MessageStore.empty, at));
  });
}

/** Uses another model, or other settings, from the next call on. */
export function changeModel(llmConfig: LlmConfig): SessionAction {
  return quick((session, { clock }) =>
    session.withState(session.state.withLlmConfig(llmConfig, clock.now())),
  );
}

/** Uses another system prompt from the next call on. */
export function changeSystemPrompt(systemPrompt: string | undefined): SessionAction {
  return quick((session, { clock }) =>
    session.withState(session.state.withSystemPrompt(systemPrompt, clock.now())),
  );
}

/** Sets one fact in the metadata. */
export function writeMetadata<T extends JsonValue>(key: MetadataKey<T> | string, value: T): SessionAction {
  return quick((session, { clock }) =>
    session.withState(session.state.withMetadata(key, value, clock.now())),
  );
}

/** Puts the session aside (`suspended`), or takes it up again (`active`). */
export function changeStatus(status: SessionStatus): SessionAction {
  return quick((session) => session.withStatus(status));
}

function quick(action: (session: AgentSession, context: ActionContext) => AgentSession): SessionAction {
  return Object.assign(action, { isQuick: true });
}

/** @throws HoldfastError `SESSION_REFUSED` */
export function requireActive(session: AgentSession): void {
  if (session.status === 'active') return;
  const message = `Session "${session.sessionId}" is ${session.status} and takes no messages. Make it active first.`;
  throw new HoldfastError('SESSION_REFUSED', message, { data: { status: session.status } });
}
