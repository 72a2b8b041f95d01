import assert from 'node:assert/strict';
import fc from 'fast-check';
import { expect } from 'vitest';
import { codePoint, webUrl } from '../../../../tools/config/vitest.properties.ts';
import {
  AgentState,
  assistantMessage,
  MessageStore,
  ToolExecution,
  userMessage,
  Usage,
  type AgentDefinition,
  type BudgetLimits,
  type Clock,
  type ErrorRecord,
  type ExecutionStatus,
  type FilePart,
  type FinishReason,
  type Instant,
  type JsonObject,
  type JsonValue,
  type LlmConfig,
  type Message,
  type ResponseFormat,
  type StopReason,
  type ToolOutcome,
  type UserPart,
  type Waiting,
} from '@holdfast/core';
import {
  InferenceResponse,
  List,
  toolMessage,
  type AssistantPart,
  type ProviderOptions,
  type ToolChoice,
  type ToolContentPart,
  type ToolOutput,
  type UsageFields,
} from '@holdfast/core/driver';
import {
  applyOutcome,
  StepId,
  STOP_REASON_RANK,
  ToolExecutionId,
  newStepMessageIds,
  SessionId,
  type ToolOutcomeType,
} from '@holdfast/core/engine';
import { steppedClock } from '@holdfast/core/testing';

export const START: Instant = Date.UTC(2026, 10, 21);

// Values

const ODD_TEXTS = [
  '',
  '\0',
  '\ud800',
  'a\udfff',
  '👩‍👩‍👧‍👦',
  '__proto__',
  'constructor',
  '9007199254740993',
  '\u2028',
  '"\\',
];

/** Texts, odd ones often: half surrogates, NUL, names that JavaScript takes for something else. */
const texts: fc.Arbitrary<string> = fc.oneof(
  { weight: 2, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 1, arbitrary: fc.string({ unit: codePoint, maxLength: 8 }) },
  { weight: 2, arbitrary: fc.constantFrom(...ODD_TEXTS) },
);

/**
 * Names of members: texts without a backslash. V8 13.6 (Node 24) may take an escaped name in JSON text for an earlier
 * name that has one, `"\\ud800"` for `"\\\\"`; that is JSON.parse (nodejs/node#63785).
 */
const names: fc.Arbitrary<string> = texts.filter((text) => !text.includes('\\'));

const numbers = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, 1e21, Number.MAX_SAFE_INTEGER, Number.MIN_VALUE),
);

const { value: anyJson, object: anyJsonObject } = fc.letrec<{ value: JsonValue; object: JsonObject }>(
  (tie) => ({
    value: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'json' },
      texts,
      numbers,
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 3, depthIdentifier: 'json' }),
      tie('object'),
    ),
    object: fc
      .array(fc.tuple(names, tie('value')), { maxLength: 3, depthIdentifier: 'json' })
      .map((entries): JsonObject => Object.fromEntries(entries)),
  }),
);
export const jsonValues: fc.Arbitrary<JsonValue> = anyJson;
const jsonObjects: fc.Arbitrary<JsonObject> = anyJsonObject;

/** A record in which each optional member is there or not. */
function record<T>(
  required: { [K in keyof T]?: fc.Arbitrary<T[K]> },
  optional: object = {},
): fc.Arbitrary<T> {
  const keys = Object.keys(required) as never[];
  return fc.record({ ...required, ...optional } as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: keys,
    noNullPrototype: true,
  }) as fc.Arbitrary<never>;
}

const providerOptions: fc.Arbitrary<ProviderOptions> = jsonObjects;
const signed = { providerOptions };
const textParts = record<{ readonly type: 'text'; readonly text: string }>(
  { type: fc.constant('text'), text: texts },
  signed,
);
const fileFields = {
  mediaType: fc.constantFrom('image/png', 'application/pdf'),
  data: fc.oneof(
    fc.record({ type: fc.constant('data' as const), data: fc.base64String({ maxLength: 12 }) }),
    fc.record({ type: fc.constant('url' as const), url: webUrl }),
    fc.record({
      type: fc.constant('reference' as const),
      reference: fc.constant({ openai: 'file_1', __other: 'f' }),
    }),
    fc.record({ type: fc.constant('text' as const), text: texts }),
  ),
};
const fileParts = record<FilePart>(
  { type: fc.constant('file'), ...fileFields },
  { ...signed, filename: texts },
);
const userContent: fc.Arbitrary<readonly UserPart[]> = fc.array(fc.oneof(textParts, fileParts), {
  maxLength: 3,
});

const callIds = fc.constantFrom('call_1', 'call_2', 'call_3', '', '__proto__');
const toolOutputs = fc.oneof(
  fc.record({ type: fc.constant('text' as const), value: texts }),
  fc.record({ type: fc.constant('json' as const), value: jsonValues }),
  fc.record({ type: fc.constant('error-json' as const), value: jsonValues }),
  record<{ readonly type: 'execution-denied'; readonly reason?: string }>(
    { type: fc.constant('execution-denied') },
    { reason: texts },
  ),
  record<Extract<ToolOutput, { readonly type: 'content' }>>(
    {
      type: fc.constant('content'),
      value: fc.array(
        fc.oneof(textParts, fileParts, record<ToolContentPart>({ type: fc.constant('custom') }, signed)),
        { maxLength: 2 },
      ),
    },
    signed,
  ),
);
const toolCallParts = record<AssistantPart>(
  {
    type: fc.constant('tool-call'),
    toolCallId: callIds,
    toolName: fc.constantFrom('add', 'search'),
    input: jsonValues,
  },
  { ...signed, providerExecuted: fc.boolean(), invalid: texts },
);
const toolResultParts = record<AssistantPart>(
  {
    type: fc.constant('tool-result'),
    toolCallId: callIds,
    toolName: fc.constant('web'),
    output: toolOutputs,
  },
  signed,
);
export const assistantContents: fc.Arbitrary<readonly AssistantPart[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: textParts },
    { weight: 4, arbitrary: toolCallParts },
    fileParts,
    record<AssistantPart>({ type: fc.constant('reasoning-file'), ...fileFields }, signed),
    toolResultParts,
    record<AssistantPart>({ type: fc.constant('reasoning'), text: texts }, signed),
    record<AssistantPart>({ type: fc.constant('source'), source: jsonObjects }, signed),
    record<AssistantPart>({ type: fc.constant('custom'), kind: texts }, signed),
  ),
  { maxLength: 4 },
);

export const usages: fc.Arbitrary<UsageFields> = record<UsageFields>(
  {},
  {
    inputTokens: fc.oneof(fc.nat(1e6), fc.constant(-0)),
    outputTokens: fc.nat(1e6),
    cacheReadTokens: fc.nat(1e6),
    cacheWriteTokens: fc.nat(1e6),
    reasoningTokens: fc.nat(1e6),
    cost: fc.double({ min: 0, max: 10, noNaN: true }),
  },
);

const FINISH_REASONS: readonly FinishReason[] = [
  'stop',
  'length',
  'content-filter',
  'tool-calls',
  'error',
  'aborted',
  'other',
];
const REASONS = Object.keys(STOP_REASON_RANK) as StopReason[];

/** What may be thrown: errors with codes, data and causes, and things that are not errors. */
const thrown: fc.Arbitrary<unknown> = fc.oneof(
  fc
    .record({
      message: texts,
      name: texts,
      code: fc.option(texts),
      data: fc.option(jsonValues),
      cause: fc.option(texts),
    })
    .map(({ message, cause, ...rest }) =>
      Object.assign(new Error(message, cause === null ? {} : { cause }), rest),
    ),
  jsonValues,
  fc.constantFrom(undefined, Symbol('x'), () => 1, 10n),
);

const failures: fc.Arbitrary<ErrorRecord> = record<ErrorRecord>(
  { name: texts, message: texts },
  { code: texts, data: jsonValues, cause: fc.record({ name: texts, message: texts }) },
);
const FAILURE_TYPES: readonly Exclude<ToolOutcomeType, 'succeeded'>[] = [
  'failed',
  'blocked',
  'denied',
  'interrupted',
];

/** Every kind of end of a tool call. */
export const outcomes: fc.Arbitrary<ToolOutcome> = fc.oneof(
  record<ToolOutcome>({ type: fc.constant('succeeded'), value: jsonValues }, { modelOutput: toolOutputs }),
  fc.record({ type: fc.constantFrom(...FAILURE_TYPES), error: failures }),
);

const executionIds = fc.uuid().map((id) => ToolExecutionId.parse(id));
const sessionIds = fc.constantFrom('a', 'child/1', '👩‍👩‍👧‍👦').map((id) => SessionId.parse(id));
const waitings: fc.Arbitrary<readonly Waiting[] | undefined> = fc.option(
  fc.array(
    fc.oneof(
      fc.constant({ type: 'input' as const }),
      record<Waiting>({ type: fc.constant('until'), until: fc.nat() }, { toolExecutionId: executionIds }),
      record<Waiting>(
        { type: fc.constant('child'), sessionId: sessionIds },
        { toolExecutionId: executionIds },
      ),
      fc.record({ type: fc.constant('approval' as const), toolExecutionId: executionIds }),
      record<Waiting>({ type: fc.constant('answer'), toolExecutionId: executionIds }, { until: fc.nat() }),
    ),
    { minLength: 1, maxLength: 2 },
  ),
  { nil: undefined },
);

const llmConfigs: fc.Arbitrary<LlmConfig> = record<LlmConfig>(
  {},
  { model: texts, temperature: numbers, stopSequences: fc.array(texts, { maxLength: 2 }), providerOptions },
);
const toolChoices: fc.Arbitrary<ToolChoice> = fc.oneof(
  fc.constantFrom<ToolChoice[]>('auto', 'none', 'required'),
  fc.record({ toolName: texts }),
);
const responseFormats: fc.Arbitrary<ResponseFormat> = fc.oneof(
  fc.constant({ type: 'text' as const }),
  record<ResponseFormat>({ type: fc.constant('json') }, { schema: jsonObjects, name: texts }),
);

const filledTexts = texts.filter((text) => text !== '');
const nameLists = fc.uniqueArray(filledTexts, { maxLength: 3 });
const limits = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true });

/** Definitions as callers write them. */
export const definitions: fc.Arbitrary<AgentDefinition> = record<AgentDefinition>(
  { name: filledTexts },
  {
    version: filledTexts,
    description: texts,
    label: texts,
    systemPrompt: texts,
    llmConfig: llmConfigs,
    tools: nameLists,
    toolsDeny: nameLists,
    capabilities: fc.dictionary(
      names.filter((name) => name !== ''),
      jsonObjects,
      { maxKeys: 3 },
    ),
    budget: record<BudgetLimits>(
      {},
      {
        maxSteps: limits,
        maxTokens: limits,
        maxSeconds: limits,
        maxCost: limits,
        deadline: fc.maxSafeInteger(),
      },
    ),
    metadata: jsonObjects,
  },
);

// Moves

const INPUTS = ['conversation', 'everythingTwice', 'copies', 'window', 'asBefore', 'nothing'] as const;
const SECTIONS = ['messages', 'summary', '', '__proto__'] as const;

interface MoveKinds {
  readonly userMessage: { readonly content: readonly UserPart[]; readonly metadata: JsonObject };
  readonly systemPrompt: { readonly text: string | undefined };
  readonly metadata: { readonly key: string; readonly value: JsonValue };
  readonly llmConfig: { readonly config: LlmConfig | undefined };
  readonly contextLimit: { readonly maxTokens: number; readonly model: string | undefined };
  readonly responseFormat: { readonly format: ResponseFormat | undefined };
  /** Keeps a window of the conversation, perhaps twice. */
  readonly rewrite: { readonly from: number; readonly to: number; readonly twice: boolean };
  /** Puts the last messages of the conversation, or a new one, into a section as well. */
  readonly section: { readonly name: string; readonly last: number };
  readonly dropSection: { readonly name: string };
  readonly stopSignal: { readonly reason: StopReason; readonly context: JsonObject | undefined };
  readonly continuation: object;
  readonly error: { readonly error: unknown };
  /** Closes a step that is open, and begins another execution when one is over. */
  readonly stepBegun: { readonly input: (typeof INPUTS)[number] };
  readonly requestSent: {
    readonly config: LlmConfig | undefined;
    readonly isOfState: boolean;
    readonly model: string | undefined;
    readonly toolChoice: ToolChoice;
  };
  readonly inferred: {
    readonly content: readonly AssistantPart[];
    readonly finishReason: FinishReason | undefined;
    readonly usage: UsageFields | undefined;
    readonly providerMetadata: JsonObject | undefined;
  };
  /** Starts a call that has no execution yet. */
  readonly toolStarted: { readonly nth: number };
  /** Ends one that runs. */
  readonly toolEnded: { readonly nth: number; readonly outcome: ToolOutcome };
  readonly toolRetried: { readonly nth: number };
  /** Asks a person about a call that has no execution yet. */
  readonly approvalRequested: { readonly nth: number; readonly args: JsonValue | undefined };
  /** Decides on a call that waits for it. */
  readonly decided: {
    readonly nth: number;
    readonly word: 'approved' | 'denied';
    readonly by: string | undefined;
    readonly reason: string | undefined;
  };
  /** Starts one that was approved. */
  readonly approvedStarted: { readonly nth: number };
  /** A running tool uses something, and leaves word for later. */
  readonly toolProgressed: {
    readonly nth: number;
    readonly progress: JsonValue;
    readonly usage: UsageFields;
  };
  /** A running call waits for something, or for nothing any more. */
  readonly toolWaits: { readonly nth: number; readonly waiting: readonly Waiting[] | undefined };
  readonly otherUsage: { readonly usage: UsageFields };
  readonly stepClosed: object;
  readonly status: { readonly status: ExecutionStatus; readonly waiting: readonly Waiting[] | undefined };
  readonly finished: object;
  readonly failure: { readonly error: unknown };
  readonly timeWorked: { readonly seconds: number };
  readonly nextExecution: object;
}

/** One change of a state, as data. */
export type Move = {
  [K in keyof MoveKinds]: { readonly type: K; readonly wait: number } & MoveKinds[K];
}[keyof MoveKinds];

function move<K extends keyof MoveKinds>(
  weight: number,
  type: K,
  fields: { [F in keyof MoveKinds[K]]: fc.Arbitrary<MoveKinds[K][F]> },
) {
  const all = { type: fc.constant(type), wait: fc.integer({ min: -5, max: 40 }), ...fields };
  return { weight, arbitrary: fc.record(all as never, { noNullPrototype: true }) as fc.Arbitrary<Move> };
}

const orNothing = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

const toolMoves = [
  move(8, 'toolStarted', { nth: fc.nat(3) }),
  move(6, 'toolEnded', { nth: fc.nat(3), outcome: outcomes }),
  move(1, 'toolRetried', { nth: fc.nat(3) }),
  move(2, 'approvalRequested', { nth: fc.nat(3), args: orNothing(jsonValues) }),
  move(2, 'decided', {
    nth: fc.nat(3),
    word: fc.constantFrom('approved', 'denied'),
    by: orNothing(texts),
    reason: orNothing(texts),
  }),
  move(2, 'approvedStarted', { nth: fc.nat(3) }),
] as const;

export const anyMove: fc.Arbitrary<Move> = fc.oneof(
  move(3, 'userMessage', { content: userContent, metadata: jsonObjects }),
  move(1, 'systemPrompt', { text: orNothing(texts) }),
  move(1, 'metadata', { key: names, value: jsonValues }),
  move(1, 'llmConfig', { config: orNothing(llmConfigs) }),
  move(1, 'contextLimit', { maxTokens: fc.nat(), model: orNothing(texts) }),
  move(1, 'responseFormat', { format: orNothing(responseFormats) }),
  move(1, 'rewrite', { from: fc.nat(3), to: fc.nat(8), twice: fc.boolean() }),
  move(1, 'section', { name: fc.constantFrom(...SECTIONS), last: fc.nat(2) }),
  move(1, 'dropSection', { name: fc.constantFrom(...SECTIONS) }),
  move(1, 'stopSignal', { reason: fc.constantFrom(...REASONS), context: orNothing(jsonObjects) }),
  move(1, 'continuation', {}),
  move(1, 'error', { error: thrown }),
  move(6, 'stepBegun', { input: fc.constantFrom(...INPUTS) }),
  move(2, 'requestSent', {
    config: orNothing(llmConfigs),
    isOfState: fc.boolean(),
    model: orNothing(texts),
    toolChoice: toolChoices,
  }),
  move(8, 'inferred', {
    content: assistantContents,
    finishReason: orNothing(fc.constantFrom(...FINISH_REASONS)),
    usage: orNothing(usages),
    providerMetadata: orNothing(jsonObjects),
  }),
  ...toolMoves,
  move(1, 'toolProgressed', { nth: fc.nat(3), progress: jsonValues, usage: usages }),
  move(1, 'toolWaits', { nth: fc.nat(3), waiting: waitings }),
  move(1, 'otherUsage', { usage: usages }),
  move(6, 'stepClosed', {}),
  move(1, 'status', {
    status: fc.constantFrom('pending', 'inProgress', 'suspended', 'completed', 'stopped', 'failed'),
    waiting: waitings,
  }),
  move(1, 'finished', {}),
  move(1, 'failure', { error: thrown }),
  move(1, 'timeWorked', { seconds: fc.double({ min: -1, max: 100, noNaN: true }) }),
  move(1, 'nextExecution', {}),
);

/** Any history of an agent: what happened to it, as data. */
export const histories: fc.Arbitrary<readonly Move[]> = fc.array(anyMove, {
  minLength: 1,
  maxLength: 40,
  size: 'max',
});

/** Histories in which many tools are called, and anything else happens meanwhile. */
export const busyHistories: fc.Arbitrary<readonly Move[]> = fc
  .array(
    fc.tuple(
      move(1, 'stepBegun', { input: fc.constantFrom(...INPUTS) }).arbitrary,
      move(1, 'inferred', {
        content: fc.array(toolCallParts, { minLength: 1, maxLength: 4 }),
        finishReason: orNothing(fc.constantFrom(...FINISH_REASONS)),
        usage: orNothing(usages),
        providerMetadata: fc.constant(undefined),
      }).arbitrary,
      fc.array(fc.oneof(...toolMoves, { weight: 6, arbitrary: anyMove }), { maxLength: 10, size: 'max' }),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((steps) => steps.flatMap(([begun, inferred, rest]) => [begun, inferred, ...rest]));

/**
 * The state after each move of a history; the first is the agent before any. Equal histories give equal states.
 * `between` may put an equal state in its place.
 */
export function play(
  moves: readonly Move[],
  between: (state: AgentState) => AgentState = (state) => state,
): readonly AgentState[] {
  const ids = steppedClock();
  const newId = (): string => ids.newId();
  let at = START;
  let state = AgentState.empty({ agentId: newId(), at });
  const states = [state];
  for (const one of moves) {
    at += one.wait;
    state = applyMove(between(state), one, at, { now: () => at, newId });
    states.push(state);
  }
  return states;
}

/** The last state of a history. */
export function stateAfter(moves: readonly Move[]): AgentState {
  return play(moves).at(-1) as AgentState;
}

/** States that transitions and the stepper can lead to. */
export const reachableStates: fc.Arbitrary<AgentState> = histories.map(stateAfter);

export function applyMove(before: AgentState, one: Move, at: Instant, clock: Clock): AgentState {
  // An execution that a transition starts has a random id; started by hand it has one of the history.
  const needsExecution = [
    'stopSignal',
    'continuation',
    'error',
    'stepBegun',
    'status',
    'finished',
    'failure',
    'otherUsage',
  ];
  const ready = one.type === 'stepBegun' ? withoutOpenStep(before, at, clock) : before;
  const state =
    ready.execution === undefined && needsExecution.includes(one.type)
      ? withExecution(ready, at, clock)
      : ready;
  switch (one.type) {
    case 'userMessage':
      return state.withUserMessage(one.content, { clock, metadata: one.metadata }, at);
    case 'systemPrompt':
      return state.withSystemPrompt(one.text, at);
    case 'metadata':
      return state.withMetadata(one.key, one.value, at);
    case 'llmConfig':
      return state.withLlmConfig(one.config, at);
    case 'contextLimit':
      return state.withContextLimit({ maxTokens: one.maxTokens, model: one.model }, at);
    case 'responseFormat':
      return state.withResponseFormat(one.format, at);
    case 'rewrite': {
      const kept = state.messages.toArray().slice(one.from, one.to);
      return state.withMessages(one.twice ? [...kept, ...kept] : kept, at);
    }
    case 'section': {
      const last =
        one.last === 0 ? [userMessage('aside', { clock })] : state.messages.toArray().slice(-one.last);
      return state.withMessageStore(state.store.append(one.name, last), at);
    }
    case 'dropSection':
      return state.withMessageStore(state.store.withoutSection(one.name), at);
    case 'stopSignal':
      return state.withStopSignal(
        { reason: one.reason, message: 'why', ...(one.context && { context: one.context }) },
        at,
      );
    case 'continuation':
      return state.withContinuationRequested(at);
    case 'error':
      return applyOutcome(state, { type: 'failed', error: one.error, at });
    case 'stepBegun':
      return applyOutcome(state, {
        type: 'stepBegun',
        stepId: StepId.create(clock),
        input: inputOf(state, one.input, clock),
        at,
      });
    case 'inferred': {
      const { content, finishReason, usage, providerMetadata } = one;
      const init = {
        content,
        providerMetadata,
        ...(finishReason && { finishReason }),
        ...(usage && { usage }),
      };
      return applyOutcome(state, { type: 'inferred', response: InferenceResponse.of(init), at });
    }
    case 'requestSent': {
      const { config, isOfState, model, toolChoice } = one;
      const llmConfig = isOfState ? state.llmConfig : config;
      return applyOutcome(state, { type: 'requestChanged', request: { llmConfig, model, toolChoice }, at });
    }
    case 'toolStarted': {
      const calls = state.currentStep?.pendingToolCalls ?? [];
      const call = calls[one.nth % calls.length];
      if (call === undefined) return state;
      return applyOutcome(state, {
        type: 'toolsAdvanced',
        toolExecutions: [ToolExecution.start(call, at, ToolExecutionId.create(clock))],
        at,
      });
    }
    case 'toolEnded': {
      const running = runningTool(state, one.nth);
      return running
        ? applyOutcome(state, {
            type: 'toolsAdvanced',
            toolExecutions: [running.withOutcome(one.outcome, at)],
            at,
          })
        : state;
    }
    case 'toolRetried': {
      const running = runningTool(state, one.nth);
      return running
        ? applyOutcome(state, { type: 'toolsAdvanced', toolExecutions: [running.withNextAttempt(at)], at })
        : state;
    }
    case 'approvalRequested': {
      const call = state.currentStep?.pendingToolCalls[one.nth];
      if (call === undefined) return state;
      const toolExecution = ToolExecution.create(call, ToolExecutionId.create(clock));
      return advanced(state, toolExecution.withCheckedArgs(one.args).withApprovalRequested(at), at);
    }
    case 'decided': {
      const waiting = executionsWhere(state, ({ isAwaitingApproval }) => isAwaitingApproval)[one.nth];
      const { word: type, by, reason } = one;
      const decision = { type, at, ...(by !== undefined && { by }), ...(reason !== undefined && { reason }) };
      return waiting ? advanced(state, waiting.withDecision(decision), at) : state;
    }
    case 'approvedStarted': {
      const isReady = ({ approval, startedAt, outcome }: ToolExecution): boolean =>
        approval?.decision !== undefined && startedAt === undefined && outcome === undefined;
      const ready = executionsWhere(state, isReady)[one.nth];
      return ready ? advanced(state, ready.withStarted(at), at) : state;
    }
    case 'toolProgressed': {
      const running = runningTool(state, one.nth);
      if (running === undefined) return state;
      return advanced(state, running.withProgress(one.progress).withUsage(Usage.of(one.usage)), at);
    }
    case 'toolWaits': {
      const running = runningTool(state, one.nth);
      return running ? advanced(state, running.withWaitingInside(one.waiting ?? []), at) : state;
    }
    case 'otherUsage':
      return state.withOtherUsage(Usage.of(one.usage), at);
    case 'stepClosed':
      return applyOutcome(state, {
        type: 'stepClosed',
        messageIds: newStepMessageIds(clock),
        at: clock.now(),
      });
    case 'status':
      return state.withExecutionStatus(one.status, at, one.waiting);
    case 'finished':
      return applyOutcome(state, { type: 'finished', at });
    case 'failure':
      return state.withFailure(one.error, at);
    case 'timeWorked':
      return state.withTimeWorked(one.seconds, at);
    case 'nextExecution':
      return state.forNextExecution(at);
  }
}

function advanced(state: AgentState, toolExecution: ToolExecution, at: Instant): AgentState {
  return applyOutcome(state, { type: 'toolsAdvanced', toolExecutions: [toolExecution], at });
}

function executionsWhere(
  state: AgentState,
  isWanted: (execution: ToolExecution) => boolean,
): readonly ToolExecution[] {
  return state.currentStep?.toolExecutions.filter(isWanted) ?? [];
}

/** The state as a step may begin in it. */
function withoutOpenStep(state: AgentState, at: Instant, clock: Clock): AgentState {
  if (state.execution?.isTerminal) return state.forNextExecution(at);
  return applyOutcome(state, { type: 'stepClosed', messageIds: newStepMessageIds(clock), at });
}

/** The state with a fresh execution whose id comes from the clock. */
function withExecution(state: AgentState, at: Instant, clock: Clock): AgentState {
  const started = state.withExecutionStatus('pending', at);
  const document = { ...(started.toJSON() as object as { execution: object }) };
  return AgentState.fromJSON({
    ...document,
    execution: { ...document.execution, executionId: clock.newId() },
  });
}

function runningTool(state: AgentState, nth: number): ToolExecution | undefined {
  const running = state.currentStep?.toolExecutions.filter(({ isRunning }) => isRunning) ?? [];
  return running[nth % running.length];
}

function inputOf(state: AgentState, kind: (typeof INPUTS)[number], clock: Clock): List<Message> {
  const before = state.lastStep?.input ?? List.empty<Message>();
  switch (kind) {
    case 'conversation':
      return state.messages;
    case 'everythingTwice':
      return List.from([...state.store.sections.flatMap(({ messages }) => [...messages]), ...state.messages]);
    case 'copies':
      return List.from([...state.messages].map((message) => Object.freeze({ ...message })));
    case 'window':
      return List.from(state.messages.toArray().slice(-2));
    case 'asBefore':
      return before.append(assistantMessage('thinking aloud', { clock }), toolMessage([], { clock }));
    case 'nothing':
      return List.empty();
  }
}

// What is true of every state

/** Fails unless the value and everything in it is frozen. */
export function expectDeeplyFrozen(value: unknown, path = '$', seen = new Set<unknown>()): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  if (!Object.isFrozen(value)) expect.fail(`${path} is not frozen`);
  for (const key of Reflect.ownKeys(value)) {
    expectDeeplyFrozen((value as Record<PropertyKey, unknown>)[key], `${path}.${String(key)}`, seen);
  }
}

/** Fails unless the state is frozen and comes back from JSON text equal, with the same text. Returns what came back. */
export function expectRoundTrip(state: AgentState): AgentState {
  expectDeeplyFrozen(state);
  const text = JSON.stringify(state);
  const restored = AgentState.fromJSON(JSON.parse(text));
  assert.deepStrictEqual(restored, state);
  expectDeeplyFrozen(restored);
  expect(JSON.stringify(restored)).toBe(text);
  return restored;
}

/** A store with these sections. */
export function storeOf(sections: Readonly<Record<string, readonly Message[]>>): MessageStore {
  return Object.entries(sections).reduce(
    (store, [name, messages]) => store.withSection(name, messages),
    MessageStore.empty,
  );
}
