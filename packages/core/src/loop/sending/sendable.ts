import type { AgentState } from '../../state/agent-state.ts';
import { executionIdOf } from '../../state/messages/message-tags.ts';
import type { Message, Messages } from '../../state/messages/messages.ts';
import { LineageCache } from '../../state/values/list.ts';
import type { InferenceRequest, ToolDescription } from '../inference/driver.ts';
import { fingerprintOfStart, grownFingerprint } from './fingerprint.ts';
import { LegalNames } from './legal-names.ts';
import { MessageRepair } from './repaired-message.ts';
import { isBlank, isReasoning, wellFormed } from './repaired-parts.ts';
import type { RequestForm } from '../inference/request-form.ts';
import { neededEnd, SentList, withSentEnd, type Progress, type SentMessage } from './sent-list.ts';

/** A request in the form of a provider. */
export interface SendableRequest extends InferenceRequest {
  /** The names of tools that were changed: the agent's name by the provider's. */
  readonly toolNames: ReadonlyMap<string, string>;
  /** Returns the fingerprint of the request: of its model, its system prompt, its tools and its messages. */
  readonly fingerprint: () => string;
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
export function sendableRequest(request: InferenceRequest, sending: Sending): SendableRequest {
  const { form } = sending;
  const start = sentStart(request, sending);
  const { fingerprint, sent } = sentProgress(request.messages, { ...sending, start: start.fingerprint });
  const messages = withSentEnd(sent, form);
  const { systemPrompt, tools, toolNames } = start;
  const { toolChoice } = request;
  const isRenamed = typeof toolChoice === 'object' && toolNames.size > 0;
  return {
    ...request,
    systemPrompt,
    tools,
    toolNames,
    messages,
    toolChoice: isRenamed ? { toolName: new LegalNames(form.toolName).of(toolChoice.toolName) } : toolChoice,
    fingerprint: () => grownFingerprint(fingerprint, messages).value,
  };
}

/** Returns each message of a request with what is sent for it. */
export function sentMessages(request: InferenceRequest, sending: Sending): readonly SentMessage[] {
  const { form, state } = sending;
  const { fingerprint } = sentStart(request, sending);
  const pairs: SentMessage[] = [];
  const history: History = { form, state, start: fingerprint, repair: new MessageRepair(form), pairs };
  grow(history, nothing(request.messages, fingerprint), undefined);
  const end = neededEnd(pairs.findLast(({ sent }) => sent !== undefined)?.sent, form);
  return end === undefined ? pairs : [...pairs, { sent: end }];
}

interface SentStart extends SentTools {
  readonly systemPrompt: string | undefined;
  readonly fingerprint: string;
}

function sentStart(request: InferenceRequest, { form, model }: Sending): SentStart {
  const given = request.systemPrompt;
  const systemPrompt = given === undefined || isBlank(given) ? undefined : given.toWellFormed();
  const { tools, toolNames } = sentTools(request.tools, form);
  return { systemPrompt, tools, toolNames, fingerprint: fingerprintOfStart({ model, systemPrompt, tools }) };
}

type SentTools = Pick<SendableRequest, 'tools' | 'toolNames'>;

const sentToolLists = new WeakMap<readonly ToolDescription[], Map<string, SentTools>>();

function sentTools(given: readonly ToolDescription[], form: RequestForm): SentTools {
  const known = sentToolLists.get(given) ?? new Map<string, SentTools>();
  sentToolLists.set(given, known);
  const result = known.get(form.name) ?? repairedTools(given, new LegalNames(form.toolName));
  known.set(form.name, result);
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
    return { name, description: text, inputSchema: schema, ...onlyDefined(others) };
  });
  const isSame = tools.every((tool, at) => tool === given[at]);
  return { tools: isSame ? given : Object.freeze(tools), toolNames };
}

function onlyDefined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

/** The repaired messages of a conversation for one form. */
interface Conversation {
  readonly form: string;
  readonly repair: MessageRepair;
  readonly executionId: string | undefined;
  /** The fingerprint of the request before the messages. */
  readonly start: string;
  /** True when reasoning was sent or omitted because of the fingerprint. */
  readonly dependsOnStart: boolean;
  /** The part before the current execution. */
  readonly closed: Progress;
  readonly whole: Progress;
  /** The parts before each of the last messages, of which a compiler may replace some in each step. */
  readonly recent: readonly Progress[];
}

const conversations = new LineageCache<readonly Conversation[]>();
/** The number of forms that can alternate in one conversation without a repair of the whole conversation. */
const MAX_FORMS = 4;
/** The number of last messages that a compiler can replace in each step without a repair of the whole execution. */
const RECENT = 4;

type Start = Sending & { readonly start: string };

/** Returns the repaired messages, from what is known of the conversation. */
function sentProgress(source: Messages, { form, state, start }: Start): Progress {
  const all = conversations.get(source) ?? [];
  const known = all.find((one) => one.form === form.name);
  const repair = known?.repair ?? new MessageRepair(form);
  const isContinued = known !== undefined && isSameRun(known, state, start);
  const from = known && beginning(known, source, isContinued);
  const isOfStart = from !== undefined && known?.start === start;
  const fingerprint = isOfStart ? from.fingerprint : { count: 0, value: start };
  const progress = from ? { ...from, source, fingerprint } : nothing(source, start);
  const history = { form, state, start, repair, pairs: undefined };
  const isWithin = isContinued && from !== undefined && from.count >= known.closed.count;
  const grown = grow(history, progress, isWithin ? known : undefined);
  const conversation = { form: form.name, repair, executionId: state.executionId, start, ...grown };
  conversations.set(source, [conversation, ...all.filter((one) => one !== known).slice(0, MAX_FORMS - 1)]);
  return grown.whole;
}

/** True in the same execution, when nothing has changed that its reasoning depends on. */
function isSameRun(known: Conversation, { executionId }: AgentState, start: string): boolean {
  return known.executionId === executionId && (!known.dependsOnStart || known.start === start);
}

/** The longest known part with which the list begins: within the same run any, otherwise the part before its execution. */
function beginning(
  { whole, closed, recent }: Conversation,
  source: Messages,
  isContinued: boolean,
): Progress | undefined {
  const common = source.commonLength(whole.source);
  if (isContinued && common >= whole.count) return whole;
  if (isContinued && whole.isSame && common > closed.count) {
    const { fingerprint } = whole.fingerprint.count <= common ? whole : closed;
    return { ...whole, count: common, fingerprint };
  }
  const part = isContinued ? recent.findLast(({ count }) => count <= common) : undefined;
  return part ?? (common >= closed.count ? closed : undefined);
}

function nothing(source: Messages, start: string): Progress {
  return { source, count: 0, sent: source, isSame: true, fingerprint: { count: 0, value: start } };
}

interface History {
  readonly form: RequestForm;
  readonly state: AgentState;
  readonly start: string;
  readonly repair: MessageRepair;
  readonly pairs: SentMessage[] | undefined;
}

type Grown = Pick<Conversation, 'closed' | 'whole' | 'dependsOnStart' | 'recent'>;

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
  for (const [index, message] of added.entries()) {
    if (added.length - index <= RECENT) recent.push(list.progress());
    const isCurrent = message.role !== 'system' && executionIdOf(message) === state.executionId;
    if (isCurrent) closed ??= list.progress();
    const bears = isCurrent && form.takesReasoning && bearsReasoning(message);
    if (bears) dependsOnStart = true;
    const keepsReasoning = isCurrent && (!bears || isOwnReasoning(message, state, list));
    list.add(message, repair.repaired(message, keepsReasoning && form.takesReasoning));
  }
  const whole = list.progress();
  return { closed: closed ?? whole, whole, dependsOnStart, recent };
}

function bearsReasoning({ role, content }: Message): boolean {
  return role === 'assistant' && content.some(isReasoning);
}

/** True for reasoning that was given after the same request, and for that of an earlier release, which kept no fingerprint. */
function isOwnReasoning({ metadata }: Message, state: AgentState, list: SentList): boolean {
  const id = metadata?.['step_id'];
  const step = state.steps.findLast((one) => one.id === id);
  if (step === undefined) return false;
  return step.fingerprint === undefined || step.fingerprint === list.fingerprint().value;
}
