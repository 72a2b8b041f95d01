import type { Clock, Instant } from '../clock.ts';
import { HoldfastError, invalidArgument } from '../errors.ts';
import type { JsonValue } from '../json.ts';
import type { AgentEventListener } from '../loop/events.ts';
import { abortKind } from '../loop/abort.ts';
import type { AgentLoop } from '../loop/agent-loop.ts';
import { next } from '../loop/stepper.ts';
import { AgentState } from '../state/agent-state.ts';
import { ExecutionState } from '../state/execution.ts';
import { ExecutionId } from '../state/ids.ts';
import type { LlmConfig } from '../state/llm-config.ts';
import { MessageStore } from '../state/message-store.ts';
import type { MessageOptions, UserPart } from '../state/messages.ts';
import type { MetadataKey } from '../state/metadata.ts';
import type { AgentSession, SessionStatus } from './session.ts';

/** What an action may use. */
export interface ActionContext {
  /** The loop of the session's agent. @throws HoldfastError `AGENT_NOT_FOUND` when the catalog has none. */
  loop(): AgentLoop;
  /** Saves now. Go on with the session it returns: it has the next revision, and whatever a hook changed. */
  save(session: AgentSession): Promise<AgentSession>;
  /** The clock of the runtime: where an action takes time and ids from. */
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  readonly onEvent: AgentEventListener | undefined;
}

/** Something done to a session between loading and saving it. */
export type SessionAction = (
  session: AgentSession,
  context: ActionContext,
) => Promise<AgentSession> | AgentSession;

/**
 * Adds a message of the user and lets the agent answer. The message is saved before any work is done on it, and
 * every step is saved as it ends. An execution that was left unfinished goes on, and answers the message too; one
 * that only lacks its end is ended first. Should the process die here, `resume()` answers the message.
 * @throws HoldfastError `SESSION_REFUSED` for a session that is not active; `ARGUMENT_INVALID` at once for an empty message.
 */
export function sendMessage(content: string | readonly UserPart[], options?: MessageOptions): SessionAction {
  if (content.length === 0) throw invalidArgument('A message must not be empty.');
  return async function sendMessageAction(session, context) {
    requireActive(session);
    const ready = next(session.state).type === 'finish' ? await runSaved(session, context) : session;
    const clock = options?.clock ?? context.clock;
    const at = context.clock.now();
    const state = ready.state.hasActiveExecution
      ? ready.state.withContinuationRequested(at)
      : withPendingExecution(ready.state, context.clock, at);
    const message = state.withUserMessage(content, { ...options, clock }, at);
    return runSaved(await context.save(ready.withState(message)), context);
  };
}

/**
 * Goes on with an execution that was left unfinished. One that is over is not: the session comes back as it was, and
 * the next message begins a new one.
 */
export function resume(): SessionAction {
  return async function resumeAction(session, context) {
    requireActive(session);
    return session.state.hasActiveExecution ? runSaved(session, context) : session;
  };
}

/**
 * Forgets all that was said and done: the messages of every section, such as a summary of the conversation too, and the
 * execution, one in progress included. Keeps the system prompt, the model, the response format and the metadata.
 */
export function clear(): SessionAction {
  return (session, { clock }) => {
    const at = clock.now();
    return session.withState(session.state.forNextExecution(at).withMessageStore(MessageStore.empty, at));
  };
}

/** Uses another model, or other settings, from the next call on. */
export function changeModel(llmConfig: LlmConfig): SessionAction {
  return (session, { clock }) => session.withState(session.state.withLlmConfig(llmConfig, clock.now()));
}

/** Uses another system prompt from the next call on. */
export function changeSystemPrompt(systemPrompt: string | undefined): SessionAction {
  return (session, { clock }) => session.withState(session.state.withSystemPrompt(systemPrompt, clock.now()));
}

/** Sets one fact in the metadata. */
export function writeMetadata<T extends JsonValue>(key: MetadataKey<T> | string, value: T): SessionAction {
  return (session, { clock }) => session.withState(session.state.withMetadata(key, value, clock.now()));
}

/** Puts the session aside (`suspended`), or takes it up again (`active`). */
export function changeStatus(status: SessionStatus): SessionAction {
  return (session) => session.withStatus(status);
}

function requireActive(session: AgentSession): void {
  if (session.status === 'active') return;
  const message = `Session "${session.sessionId}" is ${session.status} and takes no messages. Make it active first.`;
  throw new HoldfastError('SESSION_REFUSED', message, { data: { status: session.status } });
}

/** A new execution that nobody works on yet. */
function withPendingExecution(state: AgentState, clock: Clock, at: Instant): AgentState {
  const execution = ExecutionState.fresh({ id: ExecutionId.create(clock), at });
  return AgentState.restore({ ...state, execution });
}

/**
 * Runs the agent and saves after every step, so that a killed process loses the step in progress and no more. When
 * another process has taken the session over, nothing more is saved. When a hook changed the state that was saved, the
 * run goes on from that one, or what it keeps would be undone by the next save.
 */
async function runSaved(accepted: AgentSession, context: ActionContext): Promise<AgentSession> {
  const { signal, onEvent } = context;
  let session = accepted;
  for (let goesOn = true; goesOn;) {
    goesOn = false;
    for await (const state of context.loop().iterate(session.state, { signal, onEvent })) {
      if (signal && abortKind(signal) === 'lost') return session;
      if (state === session.state) continue;
      session = await context.save(session.withState(state));
      goesOn = session.state !== state && session.state.hasActiveExecution && !isYielding(signal);
      if (goesOn) break;
    }
  }
  return session;
}

/** Must the process go? What is unfinished then is left to another one. */
function isYielding(signal: AbortSignal | undefined): boolean {
  return signal !== undefined && abortKind(signal) === 'yield';
}
