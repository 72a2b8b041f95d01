import { invalidArgument } from '../../errors.ts';
import { compact, isJsonObject, type JsonValue } from '../../json.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { AgentStep } from '../../state/execution/step.ts';
import type { EffectiveRequest } from '../../state/inference/request.ts';
import { textOf } from '../../state/messages/message-parts.ts';
import type { Message } from '../../state/messages/messages.ts';
import { refusedPlaceOf, toldError } from '../inference/driver-error.ts';
import { strictestLike } from '../inference/request-form.ts';
import { sentMessages, type SendableRequest } from '../sending/sendable.ts';
import type { SentMessage } from '../sending/sent-list.ts';
import { outputInWords, withShortResults } from '../sending/short-results.ts';
import { ownForm, type CallingRun } from './call-model.ts';
import type { LoopParts } from './loop-parts.ts';

/** The messages that the model received in a step. */
export interface CompiledStep {
  readonly request: EffectiveRequest;
  readonly systemPrompt: string | undefined;
  /** Each message of the step's input, and what was sent for it. */
  readonly messages: readonly SentMessage[];
}

/** See `AgentLoop.compiledFor`. */
export function compiledFor(loop: LoopParts, state: AgentState, stepId: string): CompiledStep {
  const { currentStep } = state;
  const step = currentStep?.id === stepId ? currentStep : state.steps.find(({ id }) => id === stepId);
  if (step === undefined)
    throw invalidArgument(
      `The state has no step ${JSON.stringify(stepId)}: use the id of one of state.steps.`,
    );
  const request = state.requestOf(step);
  const { llmConfig, toolChoice } = request;
  const own = ownForm(loop, llmConfig);
  const form = request.form === 'strictest' ? strictestLike(own) : own;
  const { systemPrompt, responseFormat } = state;
  const messages =
    request.shortenedTo === undefined ? step.input : withShortResults(step.input, request.shortenedTo);
  const given = {
    messages,
    systemPrompt,
    tools: loop.toolList,
    toolChoice,
    responseFormat,
    llmConfig,
  };
  const said = new Map(messages.map((message, at) => [message, step.input.at(at)]));
  const refused = refusedIds(step);
  const sent = sentMessages(given, { form, state, model: loop.modelIdOf(llmConfig) }).map((pair) => {
    const message = pair.said && (said.get(pair.said) ?? pair.said);
    const isRefused = message !== undefined && refused.has(message.id);
    return compact({ ...pair, said: message, isRefused: isRefused ? (true as const) : undefined });
  });
  return Object.freeze({ request, systemPrompt, messages: sent });
}

/** The ids of the messages that the errors of a step name, see `withRefusedMessages`. */
function refusedIds({ errors, inferenceFailures }: AgentStep): ReadonlySet<unknown> {
  const all = [...errors, ...inferenceFailures.map(({ error }) => error)];
  return new Set(all.flatMap(({ data }) => namedMessages(data)).map((named) => memberOf(named, 'id')));
}

function namedMessages(data: JsonValue | undefined): readonly JsonValue[] {
  const messages = memberOf(memberOf(data, 'refused'), 'messages');
  return Array.isArray(messages) ? messages : [];
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

/** A message of the state that a provider refused. */
interface RefusedMessage {
  readonly id: string;
  readonly role: Message['role'];
  /** The start of its text. */
  readonly text: string;
  /** The step that made it. */
  readonly stepId?: string;
}

/**
 * Returns the error of a provider that refused a request, with the message of the state that it refused, or with those that it
 * may be; any other error as it is.
 */
export function withRefusedMessages(
  error: unknown,
  run: Pick<CallingRun, 'loop' | 'state'>,
  sent: SendableRequest,
): unknown {
  const place = refusedPlaceOf(error);
  if (place === undefined) return error;
  const { path } = place;
  const messages = saidMessages(place.messages, run, sent).map(refusedMessage);
  return toldError(error, sentenceOf(messages, path), { refused: compact({ path, messages }) });
}

/** The messages of the state that were sent at these indexes; none when this cannot be told. */
function saidMessages(
  indexes: readonly number[],
  { loop, state }: Pick<CallingRun, 'loop' | 'state'>,
  { request }: SendableRequest,
): readonly Message[] {
  if (indexes.length === 0) return [];
  const places: SentMessage[][] = [];
  for (const pair of compiledFor(loop, state, String(state.currentStep?.id)).messages) {
    if (pair.isJoined) places.at(-1)?.push(pair);
    else if (pair.sent) places.push([pair]);
  }
  if (places.length !== request.messages.length) return [];
  const said = indexes.flatMap((index) => places[index] ?? []).map((pair) => pair.said);
  return [...new Set(said)].filter((message) => message !== undefined);
}

function refusedMessage({ id, role, content, metadata }: Message): RefusedMessage {
  const stepId = role === 'assistant' || role === 'tool' ? metadata?.['step_id'] : undefined;
  const text = startOf(textOf(content) || content.map(partInWords).join(', '));
  return compact({ id, role, text, stepId: typeof stepId === 'string' ? stepId : undefined });
}

function partInWords(part: Message['content'][number]): string {
  if (part.type === 'tool-call') return `call of ${part.toolName}`;
  return part.type === 'tool-result' ? outputInWords(part.output) : part.type;
}

const MAX_TEXT = 80;

function startOf(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()}…` : text;
}

const MAX_NAMED = 3;

function sentenceOf(messages: readonly RefusedMessage[], path: string | undefined): string {
  const refused = path === undefined ? 'The provider refused' : `At ${path}, the provider refused`;
  const [first, ...others] = messages.slice(0, MAX_NAMED).map(nameOf);
  if (first === undefined)
    return path === undefined
      ? 'The text of the provider names no message.'
      : `It is not known which message is at ${path}.`;
  if (others.length === 0) return `${refused} ${first}. ${waysOut('it')}`;
  const more = messages.length > MAX_NAMED ? `; and ${messages.length - MAX_NAMED} more` : '';
  return `${refused} one of these messages: ${[first, ...others].join('; ')}${more}. ${waysOut('them')}`;
}

function waysOut(refused: string): string {
  return `A fork() before ${refused}, editMessage() or a compiler without ${refused} continues the session.`;
}

function nameOf({ id, role, text, stepId }: RefusedMessage): string {
  const step = stepId === undefined ? '' : ` of the step ${JSON.stringify(stepId)}`;
  return `the ${role} message ${JSON.stringify(id)}${step}, which begins with ${JSON.stringify(text)}`;
}
