import {
  AgentState,
  answer,
  answerError,
  approve,
  cancel,
  createAgentLoop,
  deny,
  MemorySessionStore,
  pendingApprovals,
  pendingQuestions,
  sendMessage,
  SessionRuntime,
  subagent,
  tool,
  type AgentEvent,
  type AgentSession,
  type SessionAction,
} from '@holdfast/core';
import type { PartialResponse } from '@holdfast/core/channel';
import type { AssistantPart, Driver, InferenceDelta, InferenceResponseInit } from '@holdfast/core/driver';
import { manualClock, scriptedDriver } from '@holdfast/core/testing';

/** A state as a page can show it, with the response that the model writes. */
export interface LiveState {
  readonly state: AgentState;
  readonly partial: PartialResponse | undefined;
  /** True for a state that a worker has saved: another worker can continue from it. */
  readonly isSaved: boolean;
}

/** A response of the model: its content, and how many characters it writes at once. */
export interface WrittenResponse {
  readonly content: readonly AssistantPart[];
  readonly pace: number;
  /** True when the model fails after it has written its response. */
  readonly isFailed?: boolean;
}

/** The actions of a user: while the agent waits for a person, and after a response. */
export type UserAct = 'yes' | 'other' | 'no' | 'message' | 'stop';

/** Everything that happens in a session. */
export interface Script {
  readonly responses: readonly WrittenResponse[];
  readonly acts: readonly UserAct[];
}

const object = { type: 'object' } as const;

/** Plays a script in a session, and returns each state on its way. */
export async function recordedSession({ responses, acts }: Script): Promise<readonly LiveState[]> {
  const recorder = new Recorder();
  const clock = manualClock(1_000);
  const store = new MemorySessionStore({ clock });
  const steer = tool({
    name: 'steer',
    description: 'The user sends a message meanwhile.',
    inputSchema: object,
    execute: async (_, context) => {
      await runtime.enqueue(
        sessionId,
        { type: 'message', content: 'Wait!' },
        { id: `m-${context.toolCallId}` },
      );
      clock.advance(10_000); // the worker reads its inbox
      for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
      return 'sent';
    },
  });
  const agents = {
    all: createAgentLoop({ driver: writingDriver(responses), clock, tools: [...tools(clock), steer] }),
  };
  const onSessionEvent = ({
    type,
    ...event
  }: {
    readonly type: string;
    readonly session?: unknown;
  }): void => {
    if (type === 'session-saved') recorder.save((event.session as AgentSession).state);
  };
  const runtime = new SessionRuntime({ store, clock, agents, onEvent: recorder.onEvent, onSessionEvent });
  const { sessionId } = await runtime.create({ definition: { name: 'all' } });
  let { state } = await runtime.execute(sessionId, sendMessage('Begin.', { id: 'user-1' }));
  recorder.save(state);
  for (const [index, act] of acts.entries()) {
    ({ state } = await runtime.execute(sessionId, actionOf(state, act, index)));
    recorder.save(state);
  }
  return recorder.states;
}

/** Runs an agent from a saved state, as another worker does, and returns each state on its way. */
export async function continuedFrom(saved: AgentState, { responses }: Script): Promise<readonly LiveState[]> {
  const recorder = new Recorder();
  const clock = manualClock(1_000_000);
  const steer = tool({
    name: 'steer',
    description: 'Does nothing.',
    inputSchema: object,
    execute: () => 'sent',
  });
  const loop = createAgentLoop({ driver: writingDriver(responses), clock, tools: [...tools(clock), steer] });
  const restored = AgentState.fromJSON(JSON.parse(JSON.stringify(saved)));
  recorder.save(restored);
  recorder.save(await loop.run(restored, { onEvent: recorder.onEvent }));
  return recorder.states;
}

class Recorder {
  readonly states: LiveState[] = [];
  private partial: PartialResponse | undefined;

  readonly onEvent = (event: AgentEvent): void => {
    const { state } = event;
    if (event.type === 'inference-delta') this.partial = withDelta(this.partial, event);
    else if (state.currentStep?.id !== this.partial?.stepId || event.type === 'step-restarted')
      this.partial = undefined;
    this.states.push({ state, partial: this.partial, isSaved: false });
  };

  save(state: AgentState): void {
    this.states.push({ state, partial: undefined, isSaved: true });
  }
}

function withDelta(
  partial: PartialResponse | undefined,
  { stepId, attempt, delta }: Extract<AgentEvent, { readonly type: 'inference-delta' }>,
): PartialResponse {
  const known = partial?.stepId === stepId && partial.attempt === attempt ? partial.parts : [];
  const index = known.findIndex(({ type, id }) => type === delta.type && id === delta.id);
  const part = known[index];
  const parts = part ? known.with(index, { ...part, text: part.text + delta.text }) : [...known, delta];
  return { stepId, attempt, parts };
}

function writingDriver(responses: readonly WrittenResponse[]): Driver {
  let next = 0;
  return {
    modelId: () => 'writer-1',
    async infer(_, { onDelta }): Promise<InferenceResponseInit> {
      const number = next++;
      const { content, pace, isFailed } = responses[number] ?? { content: [], pace: 0 };
      const own = content.map((part, index) => withCallId(part, `call-${number}-${index}`));
      for (const [index, part] of own.entries())
        for (const delta of deltasOf(part, `${index}`, pace)) onDelta?.(delta);
      if (isFailed) throw new Error('The model has failed.');
      const usage = { inputTokens: 100, outputTokens: 10, cost: 0.01 };
      return { content: own.length > 0 ? own : [{ type: 'text', text: 'Done.' }], usage };
    },
  };
}

function withCallId(part: AssistantPart, toolCallId: string): AssistantPart {
  if (part.type === 'tool-call') return { ...part, toolCallId };
  // The result follows its call.
  const call = toolCallId.replace(/\d+$/, (index) => `${Number(index) - 1}`);
  return part.type === 'tool-result' ? { ...part, toolCallId: call } : part;
}

function deltasOf(part: AssistantPart, id: string, pace: number): readonly InferenceDelta[] {
  if (pace === 0) return [];
  if (part.type === 'text' || part.type === 'reasoning')
    return pieces(part.text, pace).map((text) => ({ type: part.type, id, text }));
  if (part.type !== 'tool-call') return [];
  const { toolCallId, toolName, input } = part;
  const written = typeof input === 'string' ? input : JSON.stringify(input);
  return pieces(written, pace).map((text) => ({ type: 'tool-input', id: toolCallId, toolName, text }));
}

function pieces(text: string, pace: number): readonly string[] {
  return text.match(new RegExp(`[^]{1,${pace}}`, 'gu')) ?? [];
}

function tools(clock: ReturnType<typeof manualClock>) {
  const asking = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: object,
    needsApproval: true,
    execute: () => 'paid',
  });
  const inner = scriptedDriver(
    ...Array.from({ length: 20 }, () => [{ calls: { pay: { sum: 1 } } }, 'Found.']).flat(),
  );
  return [
    tool({ name: 'add', description: 'Adds.', inputSchema: object, execute: (input) => ({ input, sum: 3 }) }),
    tool({
      name: 'fail',
      description: 'Fails.',
      inputSchema: object,
      execute: () => {
        throw new Error('out of order');
      },
    }),
    asking,
    tool({ name: 'ask', description: 'Asks the user.', inputSchema: object }),
    subagent({
      name: 'research',
      description: 'Finds out.',
      loop: createAgentLoop({ driver: inner, clock, tools: [asking] }),
    }),
  ];
}

function actionOf(state: AgentState, act: UserAct, index: number): SessionAction {
  if (act === 'stop') return cancel();
  const [approval] = pendingApprovals(state);
  const [question] = pendingQuestions(state);
  if (act === 'message' || (!approval && !question))
    return sendMessage(`And ${index}?`, { id: `next-${index}` });
  if (approval) {
    if (act === 'no') return deny(approval, { reason: 'Too much.' });
    return approve(approval, act === 'other' ? { input: { sum: 2 } } : { by: 'Ada', reason: 'Fine.' });
  }
  if (question && act !== 'no') return answer(question, { city: 'Bergen' });
  return answerError(question ?? '', 'I do not know.');
}
