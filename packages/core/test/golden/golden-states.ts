import {
  AgentState,
  assistantMessage,
  ToolExecution,
  userMessage,
  Usage,
  type Clock,
  type Message,
  type ToolCallPart,
  type ToolOutcome,
} from '@holdfast/core';
import {
  InferenceResponse,
  List,
  type EffectiveRequest,
  type AssistantPart,
  type InferenceResponseInit,
} from '@holdfast/core/driver';
import {
  applyOutcome,
  nextAction,
  ExecutionId,
  StepId,
  stopSignal,
  ToolExecutionId,
  newStepMessageIds,
  SessionId,
  type ApprovalDecision,
} from '@holdfast/core/engine';
import { steppedClock } from '@holdfast/core/testing';

/** A clock, and moves that read time and ids from nothing else: a golden state is the same whenever it is made. */
export class Story {
  readonly clock: Clock = steppedClock(Date.UTC(2026, 10, 21, 12), 250);
  state: AgentState = AgentState.empty({ agentId: this.clock.newId(), at: this.clock.now() });

  /** Changes the state by a transition that takes the time. */
  do(change: (state: AgentState, at: number) => AgentState): this {
    this.state = change(this.state, this.clock.now());
    return this;
  }

  says(content: Parameters<typeof userMessage>[0], options = {}): this {
    return this.do((state, at) =>
      state.withMessageStore(
        state.store.append('messages', [userMessage(content, { ...options, clock: this.clock })]),
        at,
      ),
    );
  }

  /** A pending execution whose id comes from the clock. */
  isAccepted(): this {
    return this.do((before, at) => {
      const state = before.forNextExecution(at).withExecutionStatus('pending', at);
      const document = state.toJSON() as object as { readonly execution: object };
      return AgentState.fromJSON({
        ...document,
        execution: { ...document.execution, executionId: this.clock.newId() },
      });
    });
  }

  begins(): this {
    this.isAccepted().do((state, at) =>
      applyOutcome(state, { type: 'started', executionId: ExecutionId.create(this.clock), at }),
    );
    if (nextAction(this.state).type !== 'beginStep') throw new TypeError('The execution does not go on.');
    return this;
  }

  /** Begins a step and answers it. */
  answers(response: InferenceResponseInit, input: List<Message> = this.state.messages): this {
    const stepId = StepId.create(this.clock);
    return this.do((state, at) => applyOutcome(state, { type: 'stepBegun', stepId, input, at })).hears(
      response,
    );
  }

  /** Begins a step, whose model is called with this. */
  sends(request: EffectiveRequest): this {
    const [stepId, input] = [StepId.create(this.clock), this.state.messages];
    this.do((state, at) => applyOutcome(state, { type: 'stepBegun', stepId, input, at }));
    return this.do((state, at) => applyOutcome(state, { type: 'requestChanged', request, at }));
  }

  /** Answers the open step. */
  hears(response: InferenceResponseInit): this {
    return this.do((state, at) =>
      applyOutcome(state, { type: 'inferred', response: InferenceResponse.of(response), at }),
    );
  }

  /** Starts the next call and, when there is an outcome, ends it. */
  runs(outcome?: ToolOutcome): this {
    const [call] = this.state.currentStep?.pendingToolCalls ?? [];
    if (call === undefined) throw new TypeError('No call is open.');
    const running = ToolExecution.start(call, this.clock.now(), ToolExecutionId.create(this.clock));
    this.do((state, at) => applyOutcome(state, { type: 'toolsAdvanced', toolExecutions: [running], at }));
    return outcome === undefined
      ? this
      : this.do((state, at) =>
          applyOutcome(state, {
            type: 'toolsAdvanced',
            toolExecutions: [running.withOutcome(outcome, at)],
            at,
          }),
        );
  }

  /** Asks a person about the next call. */
  asksApproval(): this {
    const [call] = this.state.currentStep?.pendingToolCalls ?? [];
    if (call === undefined) throw new TypeError('No call is open.');
    const execution = ToolExecution.create(call, ToolExecutionId.create(this.clock));
    return this.do((state, at) => advanced(state, execution.withApprovalRequested(at), at));
  }

  /** Decides on the call asked about last. */
  decides(decision: Omit<ApprovalDecision, 'at'>, input?: ToolCallPart['input']): this {
    return this.changes((execution, at) =>
      execution.withDecision({ ...decision, at }, input ? { ...execution.call, input } : undefined),
    );
  }

  /** Changes the execution begun last. */
  changes(change: (execution: ToolExecution, at: number) => ToolExecution): this {
    return this.do((state, at) => {
      const last = state.currentStep?.toolExecutions.at(-1);
      return last ? advanced(state, change(last, at), at) : state;
    });
  }

  closes(): this {
    this.state = applyOutcome(this.state, {
      type: 'stepClosed',
      messageIds: newStepMessageIds(this.clock),
      at: this.clock.now(),
    });
    return this;
  }

  ends(): this {
    return this.do((state, at) => state.withTimeWorked(1.25, at)).do((state, at) =>
      applyOutcome(state, { type: 'finished', at }),
    );
  }
}

function advanced(state: AgentState, toolExecution: ToolExecution, at: number): AgentState {
  return applyOutcome(state, { type: 'toolsAdvanced', toolExecutions: [toolExecution], at });
}

const call = (toolCallId: string, input: ToolCallPart['input'] = { a: 2, b: 2 }): ToolCallPart => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'add',
  input,
});
const usage = { inputTokens: 120, outputTokens: 30, cacheReadTokens: 100, cost: 0.0015 };
const succeeded = (value: number): ToolOutcome => ({ type: 'succeeded', value });
const asked = (): Story => new Story().says('What is 2 + 2?').begins();
const twoCalls = {
  content: [{ type: 'text', text: 'Let me see.' }, call('call_1'), call('call_2', { a: 3, b: 3 })],
  usage,
} as const;

const everyPart: readonly AssistantPart[] = [
  { type: 'reasoning', text: 'Thinking.', providerOptions: { anthropic: { signature: 'c2lnbmF0dXJl' } } },
  { type: 'text', text: 'Found it.', providerOptions: { openai: { itemId: 'msg_1', phase: 'final' } } },
  { type: 'source', source: { sourceType: 'url', id: 's1', url: 'https://example.com/' } },
  {
    type: 'tool-call',
    toolCallId: 'srv_1',
    toolName: 'web_search',
    input: { q: 'x' },
    providerExecuted: true,
  },
  {
    type: 'tool-result',
    toolCallId: 'srv_1',
    toolName: 'web_search',
    output: { type: 'json', value: [{ url: 'https://example.com/' }] },
  },
  {
    type: 'file',
    mediaType: 'image/png',
    data: { type: 'data', data: 'iVBORw0KGgo=' },
    filename: 'plot.png',
  },
  {
    type: 'reasoning-file',
    mediaType: 'image/png',
    data: { type: 'data', data: 'iVBORw0KGgo=' },
    providerOptions: { google: { thoughtSignature: 'dGhvdWdodA==' } },
  },
  {
    type: 'tool-result',
    toolCallId: 'srv_1',
    toolName: 'look',
    output: {
      type: 'content',
      value: [
        {
          type: 'text',
          text: 'A plot.',
          providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
        },
        { type: 'file', mediaType: 'image/png', data: { type: 'url', url: 'https://example.com/plot.png' } },
        { type: 'custom', providerOptions: { openai: { a: 1 } } },
      ],
      providerOptions: { anthropic: { citations: true } },
    },
  },
  { type: 'custom', kind: 'openai.compaction', providerOptions: { openai: { itemId: 'cmp_1' } } },
];

/** How the state of each golden file is made. A state that is added gets a new file; the files are never edited. */
export const goldenStates: Readonly<Record<string, () => AgentState>> = {
  fresh: () => new Story().state,
  'session-data': () =>
    new Story()
      .says('Hello')
      .do((state, at) => state.withSystemPrompt('Be brief.', at))
      .do((state, at) => state.withMetadata('customer', { id: '9007199254740993', tags: [] }, at))
      .do((state, at) => state.withMetadata('__proto__', 'kept', at))
      .do((state, at) =>
        state.withLlmConfig(
          {
            model: 'openai:gpt-5',
            temperature: 0,
            stopSequences: ['END'],
            providerOptions: { openai: { store: false } },
          },
          at,
        ),
      )
      .do((state, at) =>
        state.withResponseFormat({ type: 'json', name: 'answer', schema: { type: 'object' } }, at),
      ).state,
  pending: () => new Story().says('Hello').isAccepted().state,
  'mid-step': () => asked().answers(twoCalls).runs(succeeded(4)).runs().state,
  completed: () =>
    asked()
      .answers(twoCalls)
      .runs(succeeded(4))
      .runs(succeeded(6))
      .closes()
      .answers({ text: 'It is 4.', usage })
      .closes()
      .ends().state,
  'between-executions': () =>
    asked()
      .answers({ text: 'It is 4.', usage })
      .closes()
      .ends()
      .do((state, at) => state.forNextExecution(at)).state,
  'several-executions': () =>
    asked()
      .answers(twoCalls)
      .runs(succeeded(4))
      .runs(succeeded(6))
      .closes()
      .answers({ text: 'It is 4.', usage })
      .closes()
      .ends()
      .says('And 3 + 3?')
      .begins()
      .answers({ text: 'It is 6.' })
      .closes()
      .ends().state,
  /** One call waits for a person, the other for a child session. */
  suspended: () =>
    asked()
      .answers(twoCalls)
      .asksApproval()
      .runs()
      .do((state, at) => {
        const [first, second] = state.currentStep?.toolExecutions.map(({ id }) => id) ?? [];
        const sessionId = SessionId.parse('orders/7/child');
        return state.withExecutionStatus('suspended', at, [
          { type: 'approval', toolExecutionId: first as ToolExecutionId },
          { type: 'child', sessionId, toolExecutionId: second as ToolExecutionId },
        ]);
      }).state,
  /** Approved by somebody with other arguments, and not begun. */
  approved: () =>
    asked()
      .answers(twoCalls)
      .asksApproval()
      .decides({ type: 'approved', by: 'ann@example.com', reason: 'Small sum.' }, { a: 1, b: 1 })
      .asksApproval()
      .decides({ type: 'denied', by: 'bob@example.com', reason: 'Too much.' }).state,
  /** A tool that used tokens of its own and left word for later; a summary was paid for beside the steps. */
  progress: () =>
    asked()
      .do((state, at) => state.withOtherUsage(Usage.of({ inputTokens: 7 }), at))
      .answers(twoCalls)
      .runs()
      .changes((execution) => execution.withUsage(Usage.of(usage)).withProgress({ parcels: [1, 2] })).state,
  'suspended-until': () =>
    asked().do((state, at) =>
      state.withExecutionStatus('suspended', at, [{ type: 'until', until: at + 60_000 }]),
    ).state,
  stopped: () =>
    asked()
      .answers(twoCalls)
      .runs(succeeded(4))
      .runs(succeeded(6))
      .closes()
      .do((state, at) => state.withStopSignal(stopSignal({ reason: 'unknown' }), at))
      .do((state, at) =>
        state.withStopSignal(
          stopSignal({
            reason: 'stepsLimitReached',
            message: '1 of 1 steps taken.',
            context: { limit: 1 },
            source: 'stepsLimit',
          }),
          at,
        ),
      )
      .ends().state,
  overruled: () =>
    asked()
      .do((state, at) => state.withStopSignal(stopSignal({ reason: 'userRequested' }), at))
      .do((state, at) => state.withContinuationRequested(at))
      .answers({ text: 'Still here.' })
      .do((state, at) => state.withContinuationRequested(at))
      .closes().state,
  failed: () => {
    const cause = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
    const error = Object.assign(new Error('The model did not answer.', { cause }), {
      code: 'DRIVER_FAILED',
      data: { status: 503 },
    });
    return asked()
      .answers({ text: 'partly', finishReason: 'error', rawFinishReason: 'overloaded' })
      .do((state, at) => applyOutcome(state, { type: 'failed', error, at }))
      .closes()
      .do((state, at) => state.withError('and a hook', at))
      .ends().state;
  },
  outcomes: () => {
    const error = (message: string, code: string) => ({ name: 'HoldfastError', message, code });
    const content = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => call(id));
    return asked()
      .answers({ content, usage })
      .runs({ type: 'succeeded', value: 'text' })
      .runs({ type: 'succeeded', value: { rows: [1, 2] }, modelOutput: { type: 'text', value: '2 rows' } })
      .runs({
        type: 'failed',
        error: {
          ...error('no', 'TOOL_FAILED'),
          data: { a: 1 },
          cause: { name: 'TypeError', message: 'why' },
        },
      })
      .runs({ type: 'blocked', error: error('not here', 'TOOL_BLOCKED') })
      .runs({ type: 'denied', error: error('not now', 'TOOL_DENIED') })
      .runs({ type: 'interrupted', error: error('unknown', 'TOOL_INTERRUPTED') })
      .closes().state;
  },
  retried: () => {
    const story = asked()
      .answers({ content: [call('call_1')], usage })
      .runs();
    const [running] = story.state.currentStep?.toolExecutions ?? [];
    if (running === undefined) throw new TypeError('A call runs.');
    return story.do((state, at) =>
      applyOutcome(state, { type: 'toolsAdvanced', toolExecutions: [running.withNextAttempt(at)], at }),
    ).state;
  },
  'aborted-step': () =>
    asked()
      .do((state, at) => state.withStopSignal(stopSignal({ reason: 'userRequested', source: 'abort' }), at))
      .answers({ text: 'It i', finishReason: 'aborted' })
      .closes()
      .ends().state,
  'every-part': () =>
    new Story()
      .says(
        [
          {
            type: 'text',
            text: 'See these.',
            providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
          },
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'iVBORw0KGgo=' } },
          {
            type: 'file',
            mediaType: 'application/pdf',
            data: { type: 'url', url: 'https://example.com/a.pdf' },
            filename: 'a.pdf',
          },
          {
            type: 'file',
            mediaType: 'application/pdf',
            data: { type: 'reference', reference: { openai: 'file-1', anthropic: 'file_1' } },
          },
          { type: 'file', mediaType: 'text/plain', data: { type: 'text', text: 'plain' } },
        ],
        { metadata: { channel: 'web' }, providerOptions: { z: 1, a: { y: 1, x: 2 } } },
      )
      .begins()
      .answers({
        content: everyPart,
        usage,
        modelId: 'gpt-5-2026',
        responseId: 'resp_1',
        rawFinishReason: 'end',
        providerMetadata: { openai: { tier: 'flex' } },
      })
      .closes()
      .ends().state,
  /** An open execution in which the model wrote what few providers take back, after reasoning without a fingerprint. */
  'odd-answers': () => {
    const name = { ...call('functions.add:0'), toolName: 'math.add/größe' };
    const written = { ...call('toolu_01 A'), input: '{"a":2,', invalid: 'The arguments are not JSON.' };
    const [reasoning] = everyPart;
    return asked()
      .answers({
        content: [...(reasoning ? [reasoning] : []), { type: 'text', text: ' ' }, name, written],
        usage,
      })
      .runs({ type: 'failed', error: { name: 'Error', message: 'Unknown \ud83d' } })
      .runs({ type: 'succeeded', value: '' })
      .closes().state;
  },
  sections: () => {
    const story = asked();
    const { clock } = story;
    const summary = [assistantMessage('They asked for a sum.', { clock })];
    story.do((state, at) =>
      state.withMessageStore(
        state.store
          .append('summary', summary)
          .append('', [userMessage('odd', { clock })])
          .withSection('__proto__', []),
        at,
      ),
    );
    const input = List.from([...summary, ...story.state.messages, userMessage('only shown', { clock })]);
    story
      .answers({ content: [call('call_1')], usage }, input)
      .runs(succeeded(4))
      .closes();
    story.answers({ text: 'It is 4.', usage }, input.concat(story.state.messages.slice(1))).closes();
    return story.do((state, at) => state.withMessages(state.messages.slice(-1), at)).state;
  },
};
