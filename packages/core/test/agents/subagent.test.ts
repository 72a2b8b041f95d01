import {
  consoleObserver,
  createAgentLoop,
  redactedListener,
  structuredOutput,
  subagent,
  tool,
  type AgentEvent,
  type AgentLoop,
  type AgentLoopOptions,
  type AgentState,
  type Hook,
  type Tool,
} from '@holdfast/core';
import { toJsonValue } from '@holdfast/core/driver';
import {
  manualClock,
  scriptedDriver,
  steppedClock,
  toolContext,
  type ScriptedAnswer,
} from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  deferred,
  does,
  driverOf,
  expectSound,
  observe,
  saidIn,
  scriptedLoop,
  told,
} from '../support/builders.ts';

const ask = (prompt = 'Look.'): ScriptedAnswer => ({ calls: { find: { prompt } } });
const named = { name: 'find', description: 'Finds something.' };

/** A loop of a subagent, with what became of it. */
function childOf(script: readonly ScriptedAnswer[], options: Partial<AgentLoopOptions> = {}) {
  const driver = scriptedDriver(...script);
  const ended: AgentState[] = [];
  const record: Hook = { afterExecution: (state) => void ended.push(state) };
  const hooks = [...(options.hooks ?? []), record];
  const loop = createAgentLoop({ clock: steppedClock(77_000), driver, ...options, hooks });
  return { loop, driver, ended };
}

const resultsOf = (state: AgentState): readonly unknown[] =>
  [...state.messages].flatMap((message) =>
    message.role === 'tool'
      ? message.content.map(({ output }) => ('value' in output ? output.value : output))
      : [],
  );

describe('an agent as a tool', () => {
  test('works on the task in its own state, and its final response is the result', async () => {
    const { loop, ended } = childOf([{ calls: { add: {} } }, 'Found.'], { tools: [does('add')] });
    const { state } = await observe({
      state: told('Go').withSystemPrompt('Parent.').withLlmConfig({ model: 'm' }),
      script: [ask('Look there.'), 'Done.'],
      tools: [subagent({ ...named, loop, systemPrompt: 'Child.' })],
    });
    expect([state.status, resultsOf(state), state.finalResponse]).toEqual(['completed', ['Found.'], 'Done.']);
    const [child] = ended as [AgentState];
    expect([child.parentAgentId, child.agentId === state.agentId]).toEqual([state.agentId, false]);
    expect([child.systemPrompt, child.llmConfig]).toEqual(['Child.', { model: 'm' }]);
    expect(saidIn(child.messages.slice(0, 1))).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Look there.' }] },
    ]);
    expect(state.usage.totalTokens).toBe(60);
    expect(state.steps[0]?.toolExecutions[0]?.progress).toBeUndefined();
  });

  test('runs twice in parallel for two calls of one step', async () => {
    const meeting = deferred();
    let arrived = 0;
    const driver = driverOf(async ({ messages }) => {
      if (++arrived === 2) meeting.resolve();
      await meeting.promise;
      return { text: `Found by ${JSON.stringify(messages.at(0)?.content)}`, usage: {} };
    });
    const { loop, ended } = childOf([], { driver });
    const { state } = await observe({
      script: [
        {
          calls: [
            ['find', { prompt: 'a' }],
            ['find', { prompt: 'b' }],
          ],
        },
        'Done.',
      ],
      tools: [subagent({ ...named, loop })],
    });
    expect(resultsOf(state)).toEqual([expect.stringContaining('"a"'), expect.stringContaining('"b"')]);
    expect(new Set(ended.map(({ agentId }) => agentId)).size).toBe(2);
  });

  test('takes arguments of its own schema and creates the task from them', async () => {
    const { loop, ended } = childOf(['Found.']);
    const inputSchema = z.object({ topic: z.string(), depth: z.number().default(2) });
    const { state } = await observe({
      script: [{ calls: { find: { topic: 'bees' } } }, 'Done.'],
      tools: [
        subagent({
          ...named,
          loop,
          inputSchema,
          toTask: ({ topic, depth }) => `${topic} ${depth}`,
          toResult: (agent, { topic }) => ({ topic, steps: agent.stepCount }),
        }),
      ],
    });
    expect(ended[0]?.messages.at(0)?.content).toMatchObject([{ text: 'bees 2' }]);
    expect(resultsOf(state)).toEqual([{ topic: 'bees', steps: 1 }]);
  });

  test('may start from a state, from which each call creates its own agent', async () => {
    const begin = told('Known before').withMetadata('k', 1).withUserMessage('And now?');
    const { loop, ended } = childOf(['Found.', 'Found again.']);
    const find = subagent({ ...named, loop, toTask: () => begin });
    const { state } = await observe({ script: [ask(), ask(), 'Done.'], tools: [find] });
    expect(resultsOf(state)).toEqual(['Found.', 'Found again.']);
    expect(ended.map(({ messages, metadata }) => [messages.length, metadata.get('k')])).toEqual([
      [3, 1],
      [3, 1],
    ]);
    expect(new Set([begin, ...ended].map(({ agentId }) => agentId)).size).toBe(3);
  });

  test('returns the value of a structured output', async () => {
    const output = structuredOutput(z.object({ celsius: z.number() }));
    const { loop } = childOf(['{"celsius": 21}'], { hooks: [output] });
    const { state } = await observe({
      script: [ask(), 'Done.'],
      tools: [subagent({ ...named, loop, output })],
    });
    expect(resultsOf(state)).toEqual([{ celsius: 21 }]);
  });

  test('can be executed directly, as any tool', async () => {
    const { loop } = childOf(['Found.']);
    const [used, seen]: [number[], string[]] = [[], []];
    const context = toolContext({
      addUsage: ({ inputTokens = 0 }) => used.push(inputTokens),
      emit: (event) => seen.push(event.type),
    });
    expect(await subagent({ ...named, loop }).execute({ prompt: 'Look.' }, context)).toBe('Found.');
    expect([used, new Set(seen)]).toEqual([[10], new Set(['subagent'])]);
  });

  test.each([
    [{ maxDepth: 0 }, RangeError],
    [{ maxDepth: 1.5 }, RangeError],
    [{ budget: { maxSteps: -1 } }, RangeError],
    [{ loop: {} as AgentLoop }, TypeError],
    [{ name: 'not a name' }, RangeError],
  ])('%j is refused', (init, Kind) => {
    const { loop } = childOf([]);
    const make = (): Tool => subagent({ ...named, loop, ...init });
    expect(make).toThrow(Kind);
    expect(make).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
  });
});

describe('an agent without a final response becomes an error that the caller reads', () => {
  const working: ScriptedAnswer = {
    content: [
      { type: 'text', text: 'Half of it.' },
      { type: 'tool-call', toolCallId: '1', toolName: 'add', input: {} },
    ],
  };
  const rows: readonly (readonly [string, Parameters<typeof childOf>, message: string, error: object])[] = [
    ['failed', [[new Error('down')]], 'Agent "find" failed: down', { data: { status: 'failed', codes: [] } }],
    [
      'failed with a code',
      [['no JSON'], { hooks: [structuredOutput(z.object({}), { maxRepairs: 0 })] }],
      'Agent "find" failed: The response does not fit',
      { data: { status: 'failed', codes: ['OUTPUT_INVALID'] }, cause: { code: 'OUTPUT_INVALID' } },
    ],
    [
      'stopped, with its last text',
      [[working], { tools: [does('add')], budget: { maxSteps: 1 } }],
      'Agent "find" was stopped before its final response: 1 of 1 steps are used up. Its last text: Half of it.',
      { data: { status: 'stopped', stopReason: 'stepsLimitReached' } },
    ],
    [
      'that waits',
      [
        [working],
        {
          tools: [does('add')],
          hooks: [{ afterStep: (state) => state.withExecutionStatus('suspended', 1) }],
        },
      ],
      'Agent "find" waits for input, which is not possible inside a call. Its last text: Half of it.',
      { data: { status: 'suspended' } },
    ],
  ];
  test.each(rows)('%s', async (_, parts, message, error) => {
    const { loop } = childOf(...parts);
    const { state } = await observe({ script: [ask(), 'So be it.'], tools: [subagent({ ...named, loop })] });
    expect([state.status, state.finalResponse]).toEqual(['completed', 'So be it.']);
    expect(resultsOf(state)).toEqual([expect.stringContaining(message)]);
    expect(state.errors).toMatchObject([{ code: 'SUBAGENT_FAILED', ...error }]);
  });

  test('also after a timeout, with its usage counted', async () => {
    const clock = manualClock();
    const driver = driverOf(async (_, { signal }) => {
      clock.advance(10_000);
      await new Promise(setImmediate);
      const usage = { inputTokens: 7, outputTokens: 0 };
      return signal.aborted ? { finishReason: 'aborted', usage } : { text: 'Late.', usage };
    });
    const { loop, ended } = childOf([], { driver, clock });
    const { state } = await observe({
      clock,
      script: [ask(), 'So be it.'],
      tools: [subagent({ ...named, loop, timeoutSeconds: 5 })],
    });
    expect([state.status, state.errors[0]?.code]).toEqual(['completed', 'TOOL_TIMEOUT']);
    expect([ended[0]?.status, state.usage.inputTokens]).toEqual(['stopped', 27]);
  });

  test('also when it cannot start', async () => {
    const loop = (): AgentLoop => {
      throw new Error('no such agent');
    };
    const { state } = await observe({ script: [ask(), 'Hm.'], tools: [subagent({ ...named, loop })] });
    expect(resultsOf(state)).toEqual(['no such agent']);
  });

  test.each([
    ['completed', ['Found.'], { value: 'Found.' }],
    ['failed', [new Error('down')], { reason: { code: 'SUBAGENT_FAILED', data: { status: 'failed' } } }],
  ])('an agent that had %s before its process died is not run again', async (_, script, expected) => {
    const over = await scriptedLoop(script).run(told());
    const { loop, driver } = childOf([]);
    const context = toolContext({ progress: toJsonValue(over), attempt: 2 });
    const called = (async () => subagent({ ...named, loop }).execute({ prompt: 'x' }, context))();
    expect(await Promise.allSettled([called])).toMatchObject([expected]);
    expect(driver.requests).toEqual([]);
  });

  test('also when the saved state is unreadable', async () => {
    const { loop, driver } = childOf([]);
    const context = toolContext({ progress: { format: 'holdfast/agent-state', version: 99 }, attempt: 2 });
    const called = (async () => subagent({ ...named, loop }).execute({ prompt: 'x' }, context))();
    await expect(called).rejects.toMatchObject({ code: 'SUBAGENT_FAILED', cause: { code: 'STATE_VERSION' } });
    expect(driver.requests).toEqual([]);
  });
});

describe('the depth of subagents', () => {
  /** An agent that has itself as a subagent, and calls it at once. */
  function recursive(maxDepth?: number): { loop: AgentLoop; calls: () => number } {
    let calls = 0;
    const driver = driverOf(async ({ messages }) => {
      calls++;
      const isAnswered = [...messages].some(({ role }) => role === 'tool');
      if (isAnswered) return { text: 'Done.', usage: { inputTokens: 1, outputTokens: 1 } };
      const call = { type: 'tool-call', toolCallId: '1', toolName: 'self', input: { prompt: 'x' } } as const;
      return { content: [call], usage: { inputTokens: 1, outputTokens: 1 } };
    });
    const self = subagent({
      name: 'self',
      description: 'You.',
      loop: (): AgentLoop => loop,
      ...(maxDepth && { maxDepth }),
    });
    const loop: AgentLoop = createAgentLoop({ driver, tools: [self], clock: steppedClock(99_000) });
    return { loop, calls: () => calls };
  }

  test.each([
    [undefined, 3],
    [1, 1],
    [2, 2],
  ])('with maxDepth %s, recursion ends at depth %d without a call', async (maxDepth, deep) => {
    const { loop, calls } = recursive(maxDepth);
    const errors: string[] = [];
    const onEvent = (event: AgentEvent): void => {
      let inner = event;
      while (inner.type === 'subagent') inner = inner.event;
      if (inner.type === 'tool-completed' && inner.toolExecution.error)
        errors.push(inner.toolExecution.error.code ?? '');
    };
    const state = expectSound(await loop.run(told(), { onEvent }));
    expect([state.status, calls(), state.usage.totalTokens]).toEqual([
      'completed',
      2 * (deep + 1),
      4 * (deep + 1),
    ]);
    expect(errors).toEqual(['SUBAGENT_DEPTH_EXCEEDED']);
  });

  test('is limited by the smallest maxDepth on the path', async () => {
    const inner = childOf(['Inner.']);
    const middle = childOf([ask(), 'Middle.'], { tools: [subagent({ ...named, loop: inner.loop })] });
    const outer = subagent({ ...named, loop: middle.loop, maxDepth: 1 });
    await observe({ script: [ask(), 'Outer.'], tools: [outer] });
    expect([inner.driver.requests.length, middle.ended[0]?.errors[0]?.code]).toEqual([
      0,
      'SUBAGENT_DEPTH_EXCEEDED',
    ]);
  });

  test('is not bypassed by a tool that passes its context on', async () => {
    const inner = childOf(['Inner.']);
    const find = subagent({ ...named, loop: inner.loop });
    const sneaky = tool({
      ...named,
      inputSchema: { type: 'object' },
      timeoutSeconds: 60,
      execute: (args, context) => find.execute(args, { ...context, attempt: 1, progress: undefined }),
    });
    const middle = childOf([ask(), 'Middle.'], { tools: [sneaky] });
    const outer = subagent({ ...named, loop: middle.loop, maxDepth: 1 });
    await observe({ script: [ask(), 'Outer.'], tools: [outer] });
    expect([inner.driver.requests.length, middle.ended[0]?.errors[0]?.code]).toEqual([
      0,
      'SUBAGENT_DEPTH_EXCEEDED',
    ]);
  });
});

describe('events that the caller’s listeners receive', () => {
  const scenario = (script: readonly ScriptedAnswer[] = ['Found.']) => {
    const { loop, driver } = childOf(script);
    return { script: [ask(), 'Done.'], tools: [subagent({ ...named, loop })], child: driver };
  };

  test('come between the start and the end of the call, inside events of the caller', async () => {
    const { child: _, ...run } = scenario();
    const { events, state } = await observe(run);
    const inShort = events.map((event) => (event.type === 'subagent' ? `  ${event.event.type}` : event.type));
    expect(inShort.slice(inShort.indexOf('tool-started'), inShort.indexOf('tool-completed') + 1)).toEqual([
      'tool-started',
      '  execution-started',
      '  step-started',
      '  inference-started',
      '  inference-delta',
      'usage-updated',
      '  inference-completed',
      '  usage-updated',
      '  step-completed',
      '  continuation-evaluated',
      '  execution-completed',
      'tool-completed',
    ]);
    for (const event of events) {
      if (event.type !== 'subagent') continue;
      expect([event.toolCallId, event.toolName]).toEqual(['call_1_1', 'find']);
      expect([event.state.agentId, event.event.state.parentAgentId]).toEqual([state.agentId, state.agentId]);
      expectSound(event.event.state);
    }
  });

  test('of an agent two levels down are nested', async () => {
    const inner = childOf(['Inner.']);
    const middle = childOf([ask(), 'Middle.'], { tools: [subagent({ ...named, loop: inner.loop })] });
    const { events } = await observe({
      script: [ask(), 'Outer.'],
      tools: [subagent({ ...named, loop: middle.loop })],
    });
    const depths = events.map((event) => {
      let [inside, depth] = [event, 0];
      for (; inside.type === 'subagent'; depth++) inside = inside.event;
      return inside.type === 'execution-completed' ? depth : undefined;
    });
    expect(depths.filter((depth) => depth !== undefined)).toEqual([2, 1, 0]);
  });

  test('are not requested from the agent’s driver without a listener', async () => {
    const streams: boolean[] = [];
    const driver = driverOf(async (_, { onDelta }) => {
      streams.push(onDelta !== undefined);
      return { text: 'Found.', usage: {} };
    });
    const { loop } = childOf([], { driver });
    const parent = createAgentLoop({
      driver: scriptedDriver(ask(), 'Done.', ask(), 'Done.'),
      tools: [subagent({ ...named, loop })],
    });
    const last = await parent.run(told());
    await parent.run(last, { onEvent: () => undefined });
    expect(streams).toEqual([false, true]);
  });

  test('are redacted too', async () => {
    const seen: AgentEvent[] = [];
    const { child: _, ...run } = scenario(['hunter2']);
    const { events } = await observe({
      ...run,
      script: [ask('hunter2'), 'hunter2'],
      listeners: [redactedListener((event) => seen.push(event))],
    });
    expect(JSON.stringify(events)).toContain('hunter2');
    expect(JSON.stringify(seen)).not.toContain('hunter2');
    const inner = (all: readonly AgentEvent[]): readonly string[] =>
      all.flatMap((event) => (event.type === 'subagent' ? [event.event.type] : []));
    expect(inner(seen)).toEqual(inner(events).filter((type) => type !== 'inference-delta'));
  });

  test('are printed below the call in a terminal, with the names of the agents', async () => {
    const lines: string[] = [];
    const inner = childOf(['Inner.']);
    const middle = childOf([ask(), 'Middle.'], { tools: [subagent({ ...named, loop: inner.loop })] });
    await observe({
      clock: steppedClock(5_000),
      script: [ask(), 'Outer.'],
      tools: [subagent({ ...named, name: 'lead', loop: middle.loop })].map((made) => ({
        ...made,
        name: 'find',
      })),
      listeners: [consoleObserver({ write: (line) => lines.push(line) })],
    });
    expect(lines.filter((line) => /[▶■→│]/.test(line)).map((line) => line.replace(/: \d.*/, ''))).toEqual([
      '▶ execution 1 started',
      '    → find {"prompt":"Look."}',
      '      [lead] ▶ execution 1 started',
      '          → find {"prompt":"Look."}',
      '            [lead › find] ▶ execution 1 started',
      '                │ Inner.',
      '            [lead › find] ■ execution 1 completed',
      '          │ Middle.',
      '      [lead] ■ execution 1 completed',
      '    │ Outer.',
      '■ execution 1 completed',
    ]);
  });
});
