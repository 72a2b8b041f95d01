import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { AsyncLocalStorage } from 'node:async_hooks';
import { tracingChannel } from 'node:diagnostics_channel';
import { context } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';
import { OpenTelemetry } from '@ai-sdk/otel';
import { aiSdkTelemetry, type TelemetryIntegration } from '@holdfast/driver-ai-sdk/telemetry';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import {
  AgentState,
  approve,
  createAgentLoop,
  MemorySessionStore,
  pendingApprovals,
  sendMessage,
  SessionRuntime,
  tool,
  type AgentLoop,
} from '@holdfast/core';
import { generateText, stepCountIs, streamText, tool as sdkTool } from 'ai';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

type Model = InstanceType<typeof MockLanguageModelV4>;
type Generated = Awaited<ReturnType<Model['doGenerate']>>;

const contexts = new AsyncLocalStorageContextManager();
beforeAll(() => void context.setGlobalContextManager(contexts.enable()));
afterAll(() => contexts.disable());

const USAGE = {
  inputTokens: { total: 7, noCache: 7, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 3, text: 3, reasoning: undefined },
};
const CALL: Generated = {
  content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: '{"city":"Rome"}' }],
  finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
  usage: USAGE,
  warnings: [],
  response: { id: 'r1', modelId: 'mock-1' },
};
const ANSWER: Generated = {
  content: [{ type: 'text', text: 'Sunny.' }],
  finishReason: { unified: 'stop', raw: 'stop' },
  usage: USAGE,
  warnings: [],
  response: { id: 'r2', modelId: 'mock-1' },
};

/** A model that gives these answers, generated and streamed. */
function modelOf(answers: readonly (Generated | Error)[]): Model {
  let calls = 0;
  const next = (): Generated => {
    const answer = answers[calls++] ?? ANSWER;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return new MockLanguageModelV4({
    provider: 'mock',
    modelId: 'mock-1',
    doGenerate: async () => next(),
    doStream: async () => ({ stream: simulateReadableStream({ chunks: chunksOf(next()) }) }),
  });
}

type Chunk = Awaited<ReturnType<Model['doStream']>>['stream'] extends ReadableStream<infer C> ? C : never;

function chunksOf({ content, finishReason, usage, response }: Generated): Chunk[] {
  const parts = content.flatMap((part): Chunk[] => {
    if (part.type === 'tool-call') return [part];
    if (part.type !== 'text') return [];
    return [
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: part.text },
      { type: 'text-end', id: '1' },
    ];
  });
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', ...response },
    ...parts,
    { type: 'finish', finishReason, usage },
  ];
}

interface Setup {
  readonly exporter: InMemorySpanExporter;
  readonly otel: OpenTelemetry;
  readonly execute: (input: { city: string }) => Promise<string>;
}

function setUp(): Setup {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracer = provider.getTracer('test');
  const execute = async ({ city }: { city: string }): Promise<string> => {
    await Promise.resolve();
    tracer.startSpan(`lookup ${city}`).end();
    return 'sun';
  };
  return { exporter, otel: new OpenTelemetry({ tracer }), execute };
}

const INPUT = z.object({ city: z.string() });
const PROMPT = 'What is the weather in Rome?';
const DESCRIPTION = 'Returns the weather.';

function holdfastLoop(
  model: Model,
  execute: Setup['execute'],
  integrations: TelemetryIntegration[],
  recording = {},
): AgentLoop {
  const telemetry = aiSdkTelemetry({ functionId: 'forecast', integrations, ...recording });
  const weather = tool({ name: 'weather', description: DESCRIPTION, inputSchema: INPUT, execute });
  const driver = aiSdkDriver({ model, maxRetries: 0 });
  return telemetry.loop(createAgentLoop(telemetry.options({ driver, tools: [weather] })));
}

const start = (): AgentState => AgentState.empty().withSystemPrompt('Be brief.').withUserMessage(PROMPT);

function sdkOptions(model: Model, { otel, execute }: Setup, recording = {}) {
  return {
    model,
    instructions: 'Be brief.',
    prompt: PROMPT,
    maxRetries: 0,
    stopWhen: stepCountIs(20),
    tools: { weather: sdkTool({ description: DESCRIPTION, inputSchema: INPUT, execute }) },
    telemetry: { functionId: 'forecast', integrations: [otel], ...recording },
  };
}

/** A span as a tree of comparable facts, without times. */
function spansOf({ exporter }: Setup): unknown[] {
  const spans = exporter.getFinishedSpans();
  const nameOf = (id: string | undefined): string | undefined =>
    spans.find((span) => span.spanContext().spanId === id)?.name;
  return spans.map((span) => ({
    name: span.name,
    parent: nameOf(span.parentSpanContext?.spanId),
    status: span.status.code,
    attributes: timeless(span),
  }));
}

function timeless({ attributes }: ReadableSpan): Record<string, unknown> {
  const entries = Object.entries(attributes).filter(
    ([name]) => !/duration|time_to|per_second|chunk/.test(name),
  );
  return Object.fromEntries(entries.map(([name, value]) => [name, parsed(value)]));
}

/** The value of an attribute; JSON is parsed, because the order of members may differ. */
function parsed(value: unknown): unknown {
  return typeof value === 'string' && /^[[{]/.test(value) ? JSON.parse(value) : value;
}

const steps = [CALL, ANSWER];

describe('the spans of a run equal those of the AI SDK', () => {
  test.each([{}, { recordInputs: false }, { recordOutputs: false }])(
    'generated, with %j',
    async (recording) => {
      const [ours, theirs] = [setUp(), setUp()];
      await generateText(sdkOptions(modelOf(steps), theirs, recording));
      const state = await holdfastLoop(modelOf(steps), ours.execute, [ours.otel], recording).run(start());
      expect(state.status).toBe('completed');
      expect(spansOf(ours)).toEqual(spansOf(theirs));
    },
  );

  test('without inputs, no span holds them', async () => {
    const ours = setUp();
    await holdfastLoop(modelOf(steps), ours.execute, [ours.otel], { recordInputs: false }).run(start());
    const spans = JSON.stringify(ours.exporter.getFinishedSpans().map(({ attributes }) => attributes));
    expect(spans).toContain('Sunny.');
    for (const secret of [PROMPT, 'Be brief.', DESCRIPTION]) expect(spans).not.toContain(secret);
  });

  test('streamed', async () => {
    const [ours, theirs] = [setUp(), setUp()];
    await streamText(sdkOptions(modelOf(steps), theirs)).consumeStream();
    await holdfastLoop(modelOf(steps), ours.execute, [ours.otel]).stream(start()).result;
    expect(spansOf(ours)).toEqual(spansOf(theirs));
  });

  test('of a tool that fails', async () => {
    const execute = async (): Promise<string> => Promise.reject(new Error('No forecast.'));
    const [ours, theirs] = [
      { ...setUp(), execute },
      { ...setUp(), execute },
    ];
    await generateText(sdkOptions(modelOf(steps), theirs));
    await holdfastLoop(modelOf(steps), execute, [ours.otel]).run(start());
    // The model reads the message of an error; the AI SDK puts the name of the error before it.
    const theirSpans: unknown = JSON.parse(JSON.stringify(spansOf(theirs)).replaceAll('Error: No', 'No'));
    expect(spansOf(ours)).toEqual(theirSpans);
  });

  test('of a call that fails', async () => {
    const [ours, theirs] = [setUp(), setUp()];
    const failing = [CALL, new Error('Out of order.')];
    await generateText(sdkOptions(modelOf(failing), theirs)).catch(() => undefined);
    const state = await holdfastLoop(modelOf(failing), ours.execute, [ours.otel]).run(start());
    expect(state.status).toBe('failed');
    expect(spansOf(ours)).toEqual(spansOf(theirs));
  });
});

/** An integration that records the names of its events, and runs `act` for each. */
function recorder(act: (name: string) => unknown = () => undefined) {
  const events: { name: string; callId: unknown }[] = [];
  const integration: Record<string, unknown> = {};
  const names = ['onStart', 'onStepStart', 'onLanguageModelCallStart', 'onLanguageModelCallEnd'];
  const others = [
    'onToolExecutionStart',
    'onToolExecutionEnd',
    'onStepEnd',
    'onStepError',
    'onEnd',
    'onAbort',
  ];
  for (const name of [...names, ...others, 'onError'])
    integration[name] = ({ callId }: { callId?: unknown }) => {
      events.push({ name, callId });
      return act(name);
    };
  const wrap = (name: string) => {
    integration[name] = ({ callId, execute }: { callId: unknown; execute: () => Promise<unknown> }) => {
      events.push({ name, callId });
      return act(name) ?? execute();
    };
  };
  wrap('executeLanguageModelCall');
  wrap('executeTool');
  return { integration, namesOf: () => events.map(({ name }) => name), events };
}

/** The operations on the tracing channel of the AI SDK while `work` runs: their paths, at start and at end. */
async function operationsOf(work: () => Promise<unknown>): Promise<string[]> {
  const channel = tracingChannel<unknown, { type: string; path?: string }>('ai:telemetry');
  const store = new AsyncLocalStorage<string>();
  const seen: string[] = [];
  channel.start.bindStore(store, (message) => {
    const outer = store.getStore();
    message.path = outer === undefined ? message.type : `${outer} > ${message.type}`;
    return message.path;
  });
  const note = (phase: string) => (message: { path?: string }) => void seen.push(`${phase} ${message.path}`);
  const nothing = (): void => undefined;
  const subscriber = {
    start: note('start'),
    end: nothing,
    asyncStart: nothing,
    asyncEnd: note('end'),
    error: note('error'),
  };
  channel.subscribe(subscriber);
  await work();
  await new Promise((resolve) => setImmediate(resolve));
  channel.unsubscribe(subscriber);
  channel.start.unbindStore(store);
  return seen;
}

test('the tracing channel shows the operations of the AI SDK', async () => {
  const setup = setUp();
  for (const answers of [steps, [CALL, new Error('Out of order.')]]) {
    const theirs = await operationsOf(() =>
      generateText(sdkOptions(modelOf(answers), setup)).catch(() => undefined),
    );
    const ours = await operationsOf(() => holdfastLoop(modelOf(answers), setup.execute, []).run(start()));
    expect(ours).toEqual(theirs);
  }
});

describe('an integration', () => {
  test('receives the events of the AI SDK in the same order', async () => {
    const [ours, theirs] = [recorder(), recorder()];
    const setup = { ...setUp(), otel: theirs.integration as unknown as OpenTelemetry };
    await generateText(sdkOptions(modelOf(steps), setup));
    await holdfastLoop(modelOf(steps), setup.execute, [ours.integration]).run(start());
    expect(ours.namesOf()).toEqual(theirs.namesOf());
    expect(new Set(ours.events.map(({ callId }) => callId)).size).toBe(1);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
    ['hangs', () => new Promise(() => undefined)],
    ['lies', (name: string) => (name.startsWith('execute') ? Promise.resolve('a lie') : undefined)],
  ])('that %s does not change the run', async (_, act) => {
    const { integration, namesOf } = recorder(act);
    const model = modelOf(steps);
    const state = await holdfastLoop(model, setUp().execute, [integration]).run(start());
    expect(state.status).toBe('completed');
    expect(state.messages.toArray().at(-1)?.content).toMatchObject([{ text: 'Sunny.' }]);
    expect(model.doGenerateCalls).toHaveLength(2);
    expect(namesOf()).toHaveLength(15);
  });

  test('wraps calls together with the other integrations', async () => {
    const [first, second] = [recorder(), recorder()];
    await holdfastLoop(modelOf(steps), setUp().execute, [first.integration, second.integration]).run(start());
    expect(first.namesOf()).toContain('executeTool');
    expect(second.namesOf()).toEqual(first.namesOf());
  });

  test('sees a failed run and an aborted run end once', async () => {
    const { integration, namesOf } = recorder();
    await holdfastLoop(modelOf([new Error('Out of order.')]), setUp().execute, [integration]).run(start());
    expect(namesOf().slice(-2)).toEqual(['onStepError', 'onError']);
    const controller = new AbortController();
    const aborted = recorder((name) => (name === 'onToolExecutionStart' ? controller.abort() : undefined));
    await holdfastLoop(modelOf(steps), setUp().execute, [aborted.integration]).run(start(), {
      signal: controller.signal,
    });
    expect(aborted.namesOf().filter((name) => ['onEnd', 'onAbort', 'onError'].includes(name))).toHaveLength(
      1,
    );
  });
});

test('a run that waits for a person ends its operation, and the run of another process is another one', async () => {
  const { integration, namesOf, events } = recorder();
  const telemetry = aiSdkTelemetry({ integrations: [integration] });
  const { execute } = setUp();
  const store = new MemorySessionStore();
  const runtimeOf = (answers: Generated[]): SessionRuntime => {
    const options = { name: 'weather', description: DESCRIPTION, inputSchema: INPUT, execute };
    const weather = tool({ ...options, needsApproval: () => true });
    const driver = aiSdkDriver({ model: modelOf(answers) });
    const main = telemetry.loop(createAgentLoop(telemetry.options({ driver, tools: [weather] })));
    return new SessionRuntime({ store, agents: { main } });
  };
  const { sessionId } = await runtimeOf([]).create({ definition: { name: 'main' } });
  const waiting = await runtimeOf([CALL]).execute(sessionId, sendMessage(PROMPT));
  expect(namesOf().slice(-2)).toEqual(['onStepEnd', 'onEnd']);
  const first = events.splice(0);
  const { state } = await runtimeOf([ANSWER]).execute(
    sessionId,
    approve(pendingApprovals(waiting.state)[0]?.id ?? ''),
  );
  expect(state.status).toBe('completed');
  const tools = ['onStart', 'onToolExecutionStart', 'executeTool', 'onToolExecutionEnd'];
  const call = [
    'onStepStart',
    'onLanguageModelCallStart',
    'executeLanguageModelCall',
    'onLanguageModelCallEnd',
  ];
  expect(namesOf()).toEqual([...tools, ...call, 'onStepEnd', 'onEnd']);
  expect(events[0]?.callId).not.toBe(first[0]?.callId);
});

test('a reader of iterate() that leaves ends the operation', async () => {
  const { integration, namesOf } = recorder();
  const loop = holdfastLoop(modelOf(steps), setUp().execute, [integration]);
  for await (const state of loop.iterate(start())) if (state.stepCount === 1) break;
  expect(namesOf().at(-1)).toBe('onAbort');
});

test('the options are checked', () => {
  expect(() => aiSdkTelemetry({ integrations: [1] } as never)).toThrow('integrations');
});
