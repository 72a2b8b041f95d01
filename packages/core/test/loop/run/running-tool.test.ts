import {
  createAgentLoop,
  RunAbort,
  Usage,
  type AgentEvent,
  type AgentState,
  type Tool,
  type ToolContext,
} from '@holdfast/core';
import { manualClock, scriptedDriver, steppedClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import {
  call,
  does,
  emitted,
  never,
  nextStart,
  observe,
  readBack,
  told,
  type Observation,
  type Scenario,
} from '../../support/builders.ts';
import { executionsOf, impatientClock, noLuck, outcomesIn, tick, used } from '../../support/tool-runs.ts';

describe('the functions of a tool’s context while it runs', () => {
  test('saveProgress puts its value into the state at once, and into the stored state', async () => {
    const states: AgentState[] = [];
    const saves = does('saves', async (_, { saveProgress }) => {
      saveProgress({ page: 1 });
      await tick();
      saveProgress({ page: 2 });
      saveProgress({ page: 2 });
    });
    const clock = steppedClock(nextStart());
    const loop = createAgentLoop({ driver: scriptedDriver(call('saves'), 'Done.'), tools: [saves], clock });
    const hook = await loop.run(told(), { onEvent: ({ state }) => void states.push(state) });
    const progress = (state: AgentState): unknown =>
      (state.currentStep ?? state.steps[0])?.toolExecutions[0]?.progress;
    expect([progress(hook), progress(readBack(hook))]).toEqual([{ page: 2 }, { page: 2 }]);
    expect(states.some((state) => progress(state) === undefined)).toBe(true);
  });

  test('saveProgress with a value that is not JSON fails the tool', async () => {
    const { state } = await used(does('a', (_, { saveProgress }) => saveProgress(1n as never)));
    expect([outcomesIn(state), state.errors[0]?.code]).toEqual([['a failed'], 'NOT_JSON']);
  });

  test('addUsage counts in the totals, also for a failed call', async () => {
    const spends = does('spends', (_, { addUsage }) => {
      addUsage(Usage.of({ inputTokens: 100, outputTokens: 10, cost: 1 }));
      addUsage({ inputTokens: 1, outputTokens: 1, cost: 0.5 });
      throw new Error('no luck');
    });
    const { state, events } = await used(spends);
    expect(executionsOf(state)[0]?.usage.toJSON()).toEqual({ inputTokens: 101, outputTokens: 11, cost: 1.5 });
    expect([state.usage.inputTokens, state.usage.outputTokens, state.cost]).toEqual([121, 21, 1.5]);
    const totals = events.flatMap((event) =>
      event.type === 'usage-updated' ? [event.usage.totalTokens] : [],
    );
    expect(totals).toEqual([15, 125, 127, 142]);
  });

  test.each([{ inputTokens: -1 }, { tokens: 5 }, 5, null])('addUsage(%j) fails the tool', async (usage) => {
    const { state } = await used(does('a', (_, { addUsage }) => addUsage(usage as never)));
    expect([outcomesIn(state), state.usage.totalTokens]).toEqual([['a failed'], 30]);
  });

  test('addUsage counts in the limits of the run', async () => {
    const spends = does('spends', (_, { addUsage }) => addUsage({ inputTokens: 1_000, outputTokens: 0 }));
    const { state, driver } = await used(spends, { script: [call('spends')], budget: { maxTokens: 1_000 } });
    expect([driver.requests.length, state.stopReason]).toEqual([1, 'tokenLimitReached']);
  });

  test('emit notifies the listeners and changes nothing else', async () => {
    const inner = told();
    const event: AgentEvent = emitted(inner);
    const emits = does('emits', (_, { emit }) => emit(event));
    const { events, state } = await used(emits);
    expect(events).toContain(event);
    expect(state.status).toBe('completed');
  });

  test('emit is not affected by a listener that throws', async () => {
    const event: AgentEvent = emitted(told());
    const { state } = await used(
      does('emits', (_, { emit }) => (emit(event), 'done')),
      { listeners: [noLuck] },
    );
    expect(outcomesIn(state)).toEqual(['emits succeeded']);
  });

  test('saveProgress announces progress that is new, and no other start', async () => {
    const busy = does('busy', (_, { saveProgress, addUsage }) => {
      saveProgress(1);
      addUsage({ inputTokens: 1, outputTokens: 1 });
      saveProgress({ done: 2 });
      saveProgress({ done: 2 });
    });
    const { events } = await used(busy);
    const ofTool = events.flatMap((event) =>
      'toolExecution' in event ? [[event.type, event.toolExecution.progress]] : [],
    );
    expect(ofTool).toEqual([
      ['tool-started', undefined],
      ['tool-progress', 1],
      ['tool-progress', { done: 2 }],
      ['tool-completed', { done: 2 }],
    ]);
  });

  test('saveProgress and addUsage still work while a run yields', async () => {
    const controller = new AbortController();
    const yields = does('yields', async (_, { addUsage, saveProgress }) => {
      controller.abort(new RunAbort('yield'));
      await tick();
      addUsage({ inputTokens: 7, outputTokens: 0 });
      saveProgress('far');
      return 'done';
    });
    const { state } = await observe({
      run: { signal: controller.signal },
      script: [call('yields', 'other')],
      tools: [yields, does('other')],
      maxParallelTools: 1,
    });
    const execution = state.currentStep?.toolExecutions[0];
    expect([execution?.value, execution?.usage.inputTokens, execution?.progress]).toEqual(['done', 7, 'far']);
  });

  const shapes: readonly (readonly [string, (context: ToolContext) => ToolContext])[] = [
    ['as it is', (context) => context],
    ['copied', (context) => ({ ...context })],
  ];
  const limits: readonly (readonly [string, Partial<Tool>])[] = [
    ['', {}],
    [', of a tool with a timeout', { timeoutSeconds: 10 }],
  ];
  const contexts = shapes.flatMap(([shape, take]) =>
    limits.map(([limit, more]) => ({ name: `${shape}${limit}`, take, more })),
  );
  test.each(contexts)('the context can be destructured: $name', async ({ take, more }) => {
    const seen: unknown[] = [];
    const takesApart = does('a', (_, context) => {
      const { toolCallId, idempotencyKey, attempt, signal, state, clock, progress } = take(context);
      const { saveProgress, addUsage, remaining, emit } = take(context);
      saveProgress('far');
      addUsage({ inputTokens: 1, outputTokens: 1 });
      emit(emitted(state));
      seen.push(toolCallId, attempt, progress, signal.aborted, remaining().maxSteps, state.stepCount);
      seen.push(typeof clock.now(), idempotencyKey);
    });
    const { state } = await used({ ...takesApart, ...more });
    const [execution] = executionsOf(state);
    expect(seen).toEqual(['call_1_1', 1, undefined, false, 19, 1, 'number', execution?.id]);
    expect([execution?.progress, execution?.usage.totalTokens]).toEqual(['far', 2]);
  });
});

describe('calls of a tool’s context after its attempt have no effect', () => {
  const inner = told();
  /** All that a tool can say. */
  function saysAll({ saveProgress, addUsage, remaining, emit }: ToolContext): void {
    saveProgress({ late: true });
    addUsage({ inputTokens: 1_000, outputTokens: 1_000, cost: 1_000 });
    emit(emitted(inner));
    remaining();
  }
  const nothingSaid = ({ state, events }: Observation): void => {
    const [first] = [...executionsOf(state), ...(state.currentStep?.toolExecutions ?? [])];
    expect([first?.progress, first?.usage]).toEqual([undefined, Usage.none]);
    expect(events.filter((event) => event.state === inner)).toEqual([]);
  };

  type Kept = { context?: ToolContext };
  const keeps = (kept: Kept, result: (context: ToolContext) => unknown = () => 'kept'): Tool =>
    does('keeps', (_, context) => {
      kept.context ??= context;
      return result(context);
    });
  const say = (kept: Kept): void => saysAll(kept.context as ToolContext);

  const rows: readonly (readonly [string, (kept: Kept) => Scenario])[] = [
    [
      'while another tool of its step runs',
      (kept) => ({
        script: [call('keeps', 'says'), 'Done.'],
        tools: [keeps(kept), does('says', () => tick().then(() => say(kept)))],
      }),
    ],
    [
      'before its result is recorded',
      (kept) => ({
        script: [call('first', 'keeps'), 'Done.'],
        tools: [does('first'), keeps(kept)],
        hooks: [
          {
            afterToolUse: async ({ name }) => {
              if (name !== 'first') return;
              await tick();
              say(kept);
            },
          },
        ],
      }),
    ],
    [
      'in a later step',
      (kept) => ({
        script: [call('keeps'), call('says'), 'Done.'],
        tools: [keeps(kept), does('says', () => say(kept))],
      }),
    ],
    ['after the step', (kept) => ({ tools: [keeps(kept)], hooks: [{ afterStep: () => say(kept) }] })],
    [
      'at the end of the run',
      (kept) => ({ tools: [keeps(kept)], hooks: [{ afterExecution: () => say(kept) }] }),
    ],
    [
      'from one attempt during another',
      (kept) => ({
        clock: impatientClock(),
        tools: [
          {
            ...keeps(kept, ({ attempt }) => (attempt === 1 ? noLuck() : say(kept))),
            retry: { maxAttempts: 2 },
          },
        ],
      }),
    ],
    [
      'in the pause between two attempts',
      (kept) => ({
        clock: impatientClock(),
        tools: [
          {
            ...keeps(kept, ({ attempt }) => {
              if (attempt === 2) return 'done';
              setImmediate(() => say(kept));
              return noLuck();
            }),
            retry: { maxAttempts: 2 },
          },
        ],
      }),
    ],
  ];
  test.each(rows)('%s', async (_, scenario) => {
    const kept: Kept = {};
    const observation = await observe({ script: [call('keeps'), 'Done.'], ...scenario(kept) });
    expect(observation.state.status).toBe('completed');
    nothingSaid(observation);
    const before = JSON.stringify(observation.state);
    say(kept);
    expect(JSON.stringify(observation.state)).toBe(before);
    nothingSaid(observation);
  });

  test('after its timeout', async () => {
    const kept: Kept = {};
    const clock = manualClock(nextStart());
    const slow = { ...keeps(kept, () => (clock.advance(5_000), never)), timeoutSeconds: 5 };
    const observation = await observe({
      clock,
      script: [call('keeps', 'says'), 'Done.'],
      tools: [slow, does('says', () => tick().then(() => say(kept)))],
    });
    expect(outcomesIn(observation.state)).toEqual(['keeps failed', 'says succeeded']);
    nothingSaid(observation);
  });

  test.each(['cancel', 'lost'] as const)('after the run was aborted (%s)', async (kind) => {
    const kept: Kept = {};
    const controller = new AbortController();
    const aborts = keeps(kept, async () => {
      controller.abort(new RunAbort(kind));
      await tick();
      say(kept);
      return never;
    });
    const observation = await observe({
      run: { signal: controller.signal },
      script: [call('keeps')],
      tools: [aborts],
    });
    await tick();
    nothingSaid(observation);
    expect(observation.driver.requests).toHaveLength(1);
  });

  test('a completed stream stays completed', async () => {
    const kept: Kept = {};
    const driver = scriptedDriver(call('keeps'), 'Done.');
    const stream = createAgentLoop({ driver, tools: [keeps(kept)] }).stream(told());
    for await (const { type } of stream) expect(type).not.toBe('tool-blocked');
    say(kept);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });
});
