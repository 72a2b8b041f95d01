import { isReasoning } from '../../state/messages/message-parts.ts';
import { compact } from '../../json.ts';
import type { AgentState } from '../../state/agent-state.ts';
import type { AgentStep } from '../../state/execution/step.ts';
import { executionIdOf } from '../../state/messages/message-tags.ts';
import type { Message, Messages } from '../../state/messages/messages.ts';
import { draft } from '../../state/values/copy.ts';
import { NOTHING } from '../../state/values/frozen-array.ts';
import { LineageCache } from '../../state/values/list.ts';
import type { InferenceRequest, ToolDescription } from '../inference/driver.ts';
import {
  grownFingerprint,
  isSameStart,
  NO_FINGERPRINT,
  type Fingerprint,
  type RequestStart,
} from './fingerprint.ts';
import { withCalledTools } from './called-tools.ts';
import { LegalNames } from './legal-names.ts';
import { MessageRepair } from './repaired-message.ts';
import { hasOption, wellFormed } from './repaired-parts.ts';
import { isBlank } from './text-part.ts';
import type { ToolChoice } from '../../state/inference/request.ts';
import type { RequestForm } from '../inference/request-form.ts';
import { neededEnd, SentList, withSentEnd, type Progress, type SentMessage } from './sent-list.ts';

/** A request in the form of a provider. */
export interface SendableRequest {
  readonly request: InferenceRequest;
  /** The names of tools that were changed: the agent's name by the provider's. */
  readonly toolNames: ReadonlyMap<string, string>;
  readonly start: RequestStart;
  /** The part before the current execution. */
  readonly closed: Progress;
  /** The fingerprint of some of the messages. */
  readonly known: Fingerprint;
}

/**
 * Returns the fingerprint of a request: of its model, its system prompt, its tools and its messages. That of the part before
 * the execution is kept, because the requests of the next execution begin with it.
 */
export function fingerprintOf({ request: { messages }, start, closed, known }: SendableRequest): string {
  const { fingerprint, sent, isSame } = closed;
  const before = grownFingerprint(fingerprint, start, sent, isSame ? closed.count : sent.length);
  draft(closed).fingerprint = before;
  const isLonger = before.count > known.count && messages.commonLength(sent) >= before.count;
  return grownFingerprint(isLonger ? before : known, start, messages).value;
}

/** The values that the repair of a request depends on, besides the request. */
export interface Sending {
  readonly form: RequestForm;
  readonly state: AgentState;
  /** The model that is called. */
  readonly model: string | undefined;
}

/**
 * Returns the request in the form of the provider. The state keeps what was said. The repair depends only on the messages,
 * the request and the form, so that it is the same in each step and process. The cost depends on the messages that were
 * added since the last request of the conversation.
 *
 * The reasoning of earlier executions is omitted. Reasoning of the current execution is sent only after the same model,
 * system prompt, tools and messages as when it was received, because some models refuse it after anything else.
 */
export function sendableRequest(given: InferenceRequest, sending: Sending): SendableRequest {
  const { form } = sending;
  const { tools, toolNames } = sentTools(given, form);
  const start = sentStart(given, tools, sending);
  const { closed, whole } = conversationFor(given.messages, sending, start);
  const { fingerprint: known, sent } = whole;
  const messages = withSentEnd(sent, form);
  const { systemPrompt } = start;
  const isSame = messages === given.messages && tools === given.tools && systemPrompt === given.systemPrompt;
  if (isSame) return { request: given, toolNames, start, closed, known };
  const toolChoice = toolNames.size === 0 ? given.toolChoice : renamedChoice(given.toolChoice, form);
  const request = { ...given, systemPrompt, tools, messages, toolChoice };
  return { request, toolNames, start, closed, known };
}

function renamedChoice(choice: ToolChoice, form: RequestForm): ToolChoice {
  return typeof choice === 'object'
    ? { toolName: LegalNames.for(form.toolName).of(choice.toolName) }
    : choice;
}

/** Returns each message of a request with what is sent for it. */
export function sentMessages(request: InferenceRequest, sending: Sending): readonly SentMessage[] {
  const { form, state } = sending;
  const start = sentStart(request, sentTools(request, form).tools, sending);
  const pairs: SentMessage[] = [];
  const history: History = { form, state, start, repair: new MessageRepair(form), pairs };
  grow(history, nothing(request.messages), undefined);
  const end = neededEnd(pairs.findLast(({ sent }) => sent !== undefined)?.sent, form);
  return end === undefined ? pairs : [...pairs, { sent: end }];
}

function sentStart(
  { systemPrompt: given }: InferenceRequest,
  tools: InferenceRequest['tools'],
  { model }: Sending,
): RequestStart {
  const systemPrompt = given === undefined || isBlank(given) ? undefined : given.toWellFormed();
  return { model, systemPrompt, tools };
}

interface SentTools extends Pick<SendableRequest, 'toolNames'> {
  readonly tools: InferenceRequest['tools'];
}

const sentToolLists = new WeakMap<readonly ToolDescription[], Map<string, SentTools>>();

function sentTools({ tools, messages }: InferenceRequest, form: RequestForm): SentTools {
  const sent = ownTools(tools, form);
  if (!form.declaresCalledTools) return sent;
  return { ...sent, tools: withCalledTools(sent.tools, messages, LegalNames.for(form.toolName)) };
}

function ownTools(given: readonly ToolDescription[], form: RequestForm): SentTools {
  let known = sentToolLists.get(given);
  if (known === undefined) sentToolLists.set(given, (known = new Map()));
  let result = known.get(form.name);
  if (result === undefined)
    known.set(form.name, (result = repairedTools(given, LegalNames.for(form.toolName))));
  return result;
}

function repairedTools(given: readonly ToolDescription[], names: LegalNames): SentTools {
  const toolNames = new Map<string, string>();
  const tools = given.map((tool) => {
    const name = names.of(tool.name);
    const { description, inputSchema } = tool;
    const [text, schema] = [description.toWellFormed(), wellFormed(inputSchema)];
    if (name === tool.name && text === description && schema === inputSchema) return tool;
    if (name !== tool.name) toolNames.set(name, tool.name);
    const { strict, providerOptions, inputExamples, providerTool } = tool;
    const others = { strict, providerOptions, inputExamples, providerTool };
    return compact({ name, description: text, inputSchema: schema, ...others });
  });
  const isSame = tools.every((tool, at) => tool === given[at]);
  return { tools: isSame ? given : Object.freeze(tools), toolNames };
}

/** The repaired messages of a conversation for one form. */
interface Conversation {
  readonly form: string;
  readonly repair: MessageRepair;
  readonly executionId: string | undefined;
  readonly start: RequestStart;
  /** True when reasoning was sent or omitted because of the fingerprint. */
  readonly dependsOnStart: boolean;
  /** The part before the current execution. */
  readonly closed: Progress;
  readonly whole: Progress;
  /** The parts before each of the last messages, of which a compiler may replace some in each step. */
  readonly recent: readonly Progress[];
  /** The number of first messages that are sent as they are. */
  readonly sameCount: number;
}

const conversations = new LineageCache<readonly Conversation[]>();
/** The number of forms that can alternate in one conversation without a repair of the whole conversation. */
const MAX_FORMS = 4;
/** The number of last messages that a compiler can replace in each step without a repair of the whole execution. */
const RECENT = 4;

/** Returns the repaired messages, from what is known of the conversation. */
function conversationFor(source: Messages, { form, state }: Sending, start: RequestStart): Conversation {
  const all = conversations.get(source) ?? NOTHING;
  const known = conversationOf(all, form.name);
  const isSameRun = known !== undefined && known.executionId === state.executionId;
  if (isSameRun && !form.takesSingleCalls && growsPlainly(known, source, start)) return known;
  const isStart = known !== undefined && isSameStart(known.start, start);
  const isContinued = isSameRun && (isStart || !known.dependsOnStart);
  const from = known && beginning(known, source, state, isContinued);
  const repair = (from && known?.repair) ?? new MessageRepair(form);
  const progress = from ? renewed(from, source, isStart) : nothing(source);
  const isWithin = isContinued && from !== undefined && from.count >= known.closed.count;
  const grown = grow(
    { form, state, start, repair, pairs: undefined },
    progress,
    isWithin ? withStart(known, isStart) : undefined,
  );
  const conversation = { form: form.name, repair, executionId: state.executionId, start, ...grown };
  const others =
    all.length > (known ? 1 : 0) ? all.filter((one) => one !== known).slice(0, MAX_FORMS - 1) : NOTHING;
  conversations.set(source, [conversation, ...others]);
  return conversation;
}

function conversationOf(all: readonly Conversation[], form: string): Conversation | undefined {
  for (let index = 0; index < all.length; index++) if (all[index]?.form === form) return all[index];
  return undefined;
}

/**
 * Extends the known part by the added messages, when each is sent as it is: answers and results in turn, as in nearly every
 * step. Returns false otherwise, and then changes nothing. It changes the known part in place, because new objects would be a
 * tenth of the allocations of a step.
 */
function growsPlainly(
  { whole, closed, repair, start: known }: Conversation,
  source: Messages,
  start: RequestStart,
): boolean {
  if (!whole.isSame || whole === closed || whole.count === 0 || !isSameStart(known, start)) return false;
  let last = source.at(whole.count - 1)?.role;
  if (source.commonLength(whole.source) < whole.count || last === 'system') return false;
  for (let at = whole.count; at < source.length; at++) {
    const message = source.at(at) as Message;
    const { role } = message;
    if ((role !== 'assistant' && role !== 'tool') || role === last || !repair.isPlain(message)) return false;
    last = role;
  }
  draft(whole).source = source;
  draft(whole).sent = source;
  draft(whole).count = source.length;
  return true;
}

/** The longest known part with which the list begins: within the same run any, otherwise the part before its execution. */
function beginning(
  known: Conversation,
  source: Messages,
  state: AgentState,
  isContinued: boolean,
): Progress | undefined {
  const { whole, closed, recent } = known;
  const common = source.commonLength(whole.source);
  const isBefore = known.executionId === state.executionId || !hasMessagesOf(state, closed);
  if (!isContinued) return isBefore && common >= closed.count ? closed : undefined;
  if (common >= whole.count) return whole;
  const part = recent.findLast(({ count }) => count <= common);
  const count = Math.min(common, whole.isSame ? whole.count : known.sameCount);
  if (part === undefined && count > closed.count && closed.isSame) {
    const { fingerprint } = [whole, closed].find((one) => one.fingerprint.count <= count) ?? closed;
    return { source, count, sent: source, isSame: true, fingerprint };
  }
  return part ?? (common >= closed.count ? closed : undefined);
}

/** True when the part has messages of the execution of the state: that of a later execution does. */
function hasMessagesOf({ executionId }: AgentState, { source, count }: Progress): boolean {
  for (let at = count - 1; at >= 0; at--)
    if (isOfExecution(source.at(at) as Message, executionId)) return true;
  return false;
}

/** The known part as a part of another list. Its fingerprint holds for the same start only. */
function renewed(
  { count, sent, isSame, fingerprint }: Progress,
  source: Messages,
  isStart: boolean,
): Progress {
  return { source, count, sent, isSame, fingerprint: isStart ? fingerprint : NO_FINGERPRINT };
}

/** The known conversation, for the same or for another start. */
function withStart(known: Conversation, isStart: boolean): Conversation {
  const { closed } = known;
  return isStart ? known : { ...known, closed: renewed(closed, closed.source, false) };
}

function nothing(source: Messages): Progress {
  return { source, count: 0, sent: source, isSame: true, fingerprint: NO_FINGERPRINT };
}

interface History {
  readonly form: RequestForm;
  readonly state: AgentState;
  readonly start: RequestStart;
  readonly repair: MessageRepair;
  readonly pairs: SentMessage[] | undefined;
}

type Grown = Pick<Conversation, 'closed' | 'whole' | 'dependsOnStart' | 'recent' | 'sameCount'>;

/** Repairs the messages of `from.source` that `from` does not cover. */
function grow(
  { form, state, start, repair, pairs }: History,
  from: Progress,
  known: Grown | undefined,
): Grown {
  const list = new SentList(from, form, start, pairs);
  let { closed, dependsOnStart = false }: Partial<Grown> = known ?? {};
  const recent: Progress[] = [];
  const added = from.source.slice(from.count);
  for (let index = 0; index < added.length; index++) {
    const message = added[index] as Message;
    // While nothing was repaired, each beginning is known.
    if (!list.isSame && added.length - index <= RECENT) recent.push(list.progress());
    const isCurrent = isOfExecution(message, state.executionId);
    if (isCurrent) closed ??= list.progress();
    const bears = isCurrent && form.takesReasoning && bearsReasoning(message);
    const isTied = bears || (isCurrent && form.takesReasoning && isBound(message, form));
    if (isTied) dependsOnStart = true;
    const isOwn = !isTied || isOfModel(message, state, start.model);
    const keepsReasoning = isCurrent && isOwn && (!bears || isOwnReasoning(message, state, list));
    list.add(message, repair.repaired(message, keepsReasoning && form.takesReasoning));
  }
  const whole = list.progress();
  return { closed: closed ?? whole, whole, dependsOnStart, recent, sameCount: list.sameCount };
}

function isOfExecution(message: Message, executionId: string | undefined): boolean {
  return message.role !== 'system' && executionIdOf(message) === executionId;
}

function bearsReasoning({ role, content }: Message): boolean {
  return role === 'assistant' && content.some(isReasoning);
}

/** True when parts of the message refer to the response that they come from. */
function isBound({ role, content }: Message, { boundOptions = NOTHING }: RequestForm): boolean {
  return role === 'assistant' && content.some((part) => hasOption(part, boundOptions));
}

/** True for a message of the model that is called, and for one whose model is not known. */
function isOfModel(message: Message, state: AgentState, model: string | undefined): boolean {
  const step = stepOf(message, state);
  const made = step && state.requestOf(step).model;
  return made === undefined || made === model;
}

/** True for reasoning that was given after the same request, and for that of an earlier release, which kept no fingerprint. */
function isOwnReasoning(message: Message, state: AgentState, list: SentList): boolean {
  const step = stepOf(message, state);
  if (step === undefined) return false;
  return step.fingerprint === undefined || step.fingerprint === list.fingerprint();
}

/** Returns the closed step that added a message. The search begins at the last step, which nearly always added it. */
function stepOf({ metadata }: Message, { stepExecutions }: AgentState): AgentStep | undefined {
  const id = metadata?.['step_id'];
  for (let at = stepExecutions.length - 1; at >= 0; at--) {
    const step = stepExecutions.at(at)?.step;
    if (step?.id === id) return step;
  }
  return undefined;
}
