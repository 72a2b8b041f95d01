import {
  ExecutionBudget,
  AgentBuilder,
  MemorySessionStore,
  messageCompiler,
  eventListener,
  sendMessage,
  SessionRuntime,
  structuredOutput,
  summaries,
  userMessage,
  type AgentDefinition,
  type AgentLoopOptions,
  type AgentState,
  type Capability,
  type Hook,
} from '@holdfast/core';
import {
  scriptedDriver,
  steppedClock,
  type ScriptedAnswer,
  type ScriptedDriver,
} from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { call, cameTo, does, expectSound, saidIn, scriptedLoop, told } from '../support/builders.ts';
const endless = Array.from({ length: 40 }, () => call('a'));

/** A builder with the tools `a` and `b`, and its driver. */
function scripted(
  script: readonly ScriptedAnswer[] = ['Done.'],
  options: Partial<AgentLoopOptions> = {},
): { readonly driver: ScriptedDriver; readonly builder: AgentBuilder } {
  const driver = scriptedDriver(...script);
  const all = { driver, tools: [does('a'), does('b')], clock: steppedClock(1_000), ...options };
  return { driver, builder: AgentBuilder.of(all) };
}

const toolsSeen = ({ requests }: ScriptedDriver): unknown => requests[0]?.tools.map(({ name }) => name);

/** A hook that says when it is called. */
const notes = (log: string[], name: string, priority = 0): Hook => ({
  name,
  priority,
  beforeStep: () => void log.push(name),
});

/** Runs a definition to its end. */
async function runOf(builder: AgentBuilder, definition: Partial<AgentDefinition>): Promise<AgentState> {
  const agent = builder.build({ name: 'writer', ...definition });
  return expectSound(await agent.run(agent.start('Go')));
}

/** Adds a tool, a hook and a message that the model sees. */
const memory =
  (log: string[], fact = 'Likes tea.'): Capability =>
  (builder) => {
    const select = messageCompiler(builder.options.compiler ?? ((state) => state.messages));
    return builder
      .withTools(does('remember', () => log.push('remembered')))
      .withHooks(notes(log, 'memory'))
      .withSettings({ compiler: (state) => [userMessage(fact), ...select(state)] });
  };

describe('a builder', () => {
  test('builds a loop from its options', async () => {
    const script = [call('a'), call('nowhere'), 'Done.'];
    const options = { tools: [does('a')], toolErrors: 'fail', toolChoice: 'required' } as const;
    const { builder, driver } = scripted(script, options);
    const state = await builder.toLoop().run(told());
    expect(cameTo(state)).toEqual(cameTo(await scriptedLoop(script, options).run(told())));
    expect(state.status).toBe('failed');
    expect(driver.requests[0]?.toolChoice).toBe('required');
  });

  test('passes every option on, including those without a method', () => {
    const { driver } = scripted();
    const options: Required<AgentLoopOptions> = {
      driver,
      tools: [does('a')],
      toolChoice: 'none',
      hooks: [{ name: 'hook', afterStep: () => undefined }],
      budget: { maxSteps: 3 },
      prices: {},
      maxConsecutiveFailures: 2,
      compiler: (state) => state.messages,
      toolErrors: 'fail',
      maxParallelTools: 1,
      maxToolResultLength: 50,
      maxResultBytes: 2_048,
      finalStep: 'answer',
      whenTooLong: ['shortenResults'],
      listeners: [() => undefined],
      redact: () => null,
      clock: steppedClock(),
      inferenceRetry: { maxElapsedSeconds: 60 },
      fallback: ['other-model'],
    };
    expect(AgentBuilder.of(options).options).toEqual(options);
    const { tools, hooks, listeners, ...settings } = options;
    const added = AgentBuilder.of()
      .withSettings(settings)
      .withTools(...tools)
      .withHooks(...hooks)
      .withListeners(...listeners);
    expect(added).toEqual(AgentBuilder.of(options));
  });

  test('is a value: a change returns a copy, and no change returns the same builder', () => {
    const { builder, driver } = scripted(undefined, { budget: { maxSteps: 5 } });
    const before = { ...builder.options };
    const named = builder.withCapabilityFactories({ memory: () => memory([]) });
    const other = named
      .withTools(does('c'))
      .withHooks({ afterStep: () => undefined })
      .withListeners(() => undefined)
      .withSettings({ toolErrors: 'fail', budget: { maxSteps: 6 } })
      .use(memory([]));
    expect(builder.options).toEqual(before);
    expect(builder.capabilityFactories).toEqual({});
    expect(named.options).toBe(builder.options);
    expect(other.options.tools?.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'remember']);
    for (const value of [other, other.options, other.capabilityFactories])
      expect(Object.isFrozen(value)).toBe(true);
    const { tools, hooks, listeners, budget } = other.options;
    for (const value of [tools, hooks, listeners, budget]) expect(Object.isFrozen(value)).toBe(true);
    expect(builder.withTools().withHooks().withListeners().withSettings({})).toBe(builder);
    expect(builder.withSettings({ driver, budget: { maxSteps: 5 } })).toBe(builder);
    expect(builder.withSettings({ budget: undefined as never }).options).not.toHaveProperty('budget');
    expect(builder.withCapabilityFactories({}).use((same) => same)).toBe(builder);
  });

  test('is not affected by later changes to the options that it received', async () => {
    const [tools, hooks, budget] = [[does('a')], [] as Hook[], { maxSteps: 2 }];
    const builder = AgentBuilder.of({ driver: scriptedDriver(...endless), tools, hooks, budget });
    tools.push(does('b'));
    hooks.push({ beforeStep: () => expect.unreachable() });
    budget.maxSteps = 30;
    expect(builder.options.tools).toHaveLength(1);
    expect((await builder.toLoop().run(told())).stepCount).toBe(2);
  });

  test('builds independent agents from one builder and from one definition', async () => {
    const { builder } = scripted(['One.', 'Two.']);
    const definition: AgentDefinition = Object.freeze({ name: 'writer', tools: ['a'], capabilities: {} });
    const [first, second] = [builder.build(definition), builder.build({ name: 'clerk', tools: [] })];
    expect((await first.run(first.start('Go'))).finalResponse).toBe('One.');
    expect((await second.run(second.start('Go'))).finalResponse).toBe('Two.');
    const other = scripted(['Three.'], { tools: [does('a')] });
    expect((await runOf(other.builder, definition)).finalResponse).toBe('Three.');
    expect(first.definition).toEqual(definition);
  });

  test('throws at once for invalid arguments', () => {
    const { builder } = scripted();
    const wrong = { code: 'ARGUMENT_INVALID' };
    const says = (work: () => unknown, message: string): void =>
      expect(work).toThrow(expect.objectContaining({ ...wrong, message: expect.stringContaining(message) }));
    says(() => builder.withTools(does('c'), does('a')), 'two tools named "a"');
    for (const none of [undefined, null, 'a', { name: 'a' }])
      says(() => AgentBuilder.of({ tools: [none as never] }), 'A tool must be created by tool(), found');
    says(() => AgentBuilder.of({ tools: [does('a'), does('a')] }), 'two tools named "a"');
    says(() => AgentBuilder.of().toLoop(), 'needs a driver');
    says(() => AgentBuilder.of().build({ name: 'writer' }), 'needs a driver');
    says(() => builder.withSettings({ budget: { maxSteps: -1 } }), 'maxSteps');
    for (const driver of [undefined, null, {}]) {
      says(() => builder.withSettings({ driver: driver as never }), 'needs a driver');
      says(() => AgentBuilder.of({ driver: driver as never }), 'needs a driver');
    }
    says(() => builder.use(undefined as never), 'A capability must be a function, found nothing');
    says(() => builder.use((() => undefined) as never), 'must return an AgentBuilder, found nothing');
    says(() => builder.withCapabilityFactories({ memory: {} as never }), '"memory" must be a function');
    const named = builder.withCapabilityFactories({ memory: () => memory([]) });
    says(
      () => named.withCapabilityFactories({ memory: () => memory([]) }),
      'two capabilities named "memory"',
    );
    says(() => AgentBuilder.of().use(summaries({ maxTokens: 5 })), 'needs a driver');
  });
});

describe('a capability', () => {
  test('adds a tool, a hook and a compiler', async () => {
    const log: string[] = [];
    const { builder, driver } = scripted([call('remember'), 'Done.']);
    const state = await builder.use(memory(log)).toLoop().run(told());
    expect(log).toEqual(['memory', 'remembered', 'memory']);
    expect(toolsSeen(driver)).toEqual(['a', 'b', 'remember']);
    expect(saidIn(driver.requests[0]?.messages ?? [])).toEqual(
      saidIn([userMessage('Likes tea.'), userMessage('Go')]),
    );
    expect(state.messages.at(0)).toMatchObject({ content: [{ text: 'Go' }] });
  });

  test('receives what was added before it, so a capability can wrap another', async () => {
    const { builder, driver } = scripted();
    const forgetful: Capability = (before) => {
      const { compiler = (state) => state.messages } = before.options;
      return before.withSettings({ compiler: (state) => [...compiler(state)].slice(-1) });
    };
    await builder.use(memory([])).use(forgetful).toLoop().run(told());
    expect(saidIn(driver.requests[0]?.messages ?? [])).toEqual(saidIn([userMessage('Go')]));
  });

  test('has its hooks called in the order of addition, those of a definition last, after priority', async () => {
    const log: string[] = [];
    const adds =
      (...hooks: readonly Hook[]): Capability =>
      (before) =>
        before.withHooks(...hooks);
    const { builder } = scripted();
    const ready = builder
      .withHooks(notes(log, 'own'))
      .use(adds(notes(log, 'used')))
      .withCapabilityFactories({
        first: () => adds(notes(log, 'first')),
        second: () => adds(notes(log, 'second'), notes(log, 'urgent', 5)),
        unnamed: () => adds(notes(log, 'unnamed')),
      })
      .withHooks(notes(log, 'later'));
    await runOf(ready, { capabilities: { second: {}, first: {} } });
    expect(log).toEqual(['urgent', 'own', 'used', 'later', 'second', 'first']);
  });

  test('summaries() summarises older messages with the builder’s driver and compiler', async () => {
    const { builder, driver } = scripted(['They greet.', 'Done.'], {
      prices: { m: { input: 1, output: 1 } },
    });
    const long = told('Hello. '.repeat(300)).withUserMessage('Go').withLlmConfig({ model: 'm' });
    const shouting: Capability = (before) =>
      before.withSettings({ compiler: (state) => [...state.messages, userMessage('!')] });
    const ready = builder.use(shouting).use(summaries({ maxTokens: 100, llmConfig: { model: 'm' } }));
    const state = await ready.toLoop().run(long);
    expect(driver.requests.map(({ tools }) => tools.length)).toEqual([0, 2]);
    const shown = JSON.stringify(saidIn(driver.requests[1]?.messages ?? []));
    expect(shown).toMatch(/They greet\..*Go.*!/);
    expect(shown).not.toContain('Hello.');
    expect(state.cost).toBeCloseTo(30 / 1e6);
  });
});

describe('a definition', () => {
  test('starts with its prompt, model and metadata', async () => {
    const { builder, driver } = scripted();
    const llmConfig = { model: 'openai:gpt-5', temperature: 0 };
    const definition = { name: 'writer', systemPrompt: 'Be brief.', llmConfig, metadata: { team: 'docs' } };
    const agent = builder.build(definition);
    const state = expectSound(agent.start([{ type: 'text', text: 'Hi' }]));
    expect([state.systemPrompt, state.llmConfig, state.metadata.values, state.messages.length]).toEqual([
      'Be brief.',
      llmConfig,
      { team: 'docs' },
      1,
    ]);
    expect(agent.start().messages.length).toBe(0);
    expect(agent.start().agentId).not.toBe(state.agentId);
    await agent.run(state);
    expect(driver.requests[0]).toMatchObject({ systemPrompt: 'Be brief.', llmConfig });
  });

  test('uses times and ids from the clock of the loop', () => {
    const make = () => scripted().builder.build({ name: 'writer' }).start('Hi');
    expect(make()).toEqual(make());
  });

  const grants: readonly (readonly [Partial<AgentDefinition>, readonly string[]])[] = [
    [{}, ['a', 'b']],
    [{ tools: [] }, []],
    [{ tools: ['b'] }, ['b']],
    [{ tools: ['b', 'a'] }, ['a', 'b']],
    [{ toolsDeny: ['a'] }, ['b']],
    [{ tools: ['a', 'b'], toolsDeny: ['a'] }, ['b']],
    [{ toolsDeny: ['elsewhere'] }, ['a', 'b']],
    [{ capabilities: { memory: {} } }, ['a', 'b', 'remember']],
    [{ capabilities: { memory: {} }, tools: ['a', 'remember'] }, ['a', 'remember']],
    [{ capabilities: { memory: {} }, tools: ['a'] }, ['a']],
    [{ capabilities: { memory: {} }, toolsDeny: ['remember'] }, ['a', 'b']],
  ];
  test.each(grants)('%j allows the tools %j', async (definition, allowed) => {
    const { builder, driver } = scripted();
    await runOf(builder.withCapabilityFactories({ memory: () => memory([]) }), definition);
    expect(toolsSeen(driver)).toEqual(allowed);
  });

  test('denies a tool even when the model requests it', async () => {
    const { builder } = scripted([call('a', 'b'), 'Done.'], {
      tools: [does('a', () => expect.unreachable()), does('b')],
    });
    const { steps } = await runOf(builder, { toolsDeny: ['a'] });
    expect(steps[0]?.toolExecutions.map(({ outcome }) => outcome)).toMatchObject([
      { type: 'failed', error: { code: 'TOOL_NOT_FOUND' } },
      { type: 'succeeded' },
    ]);
  });

  test('passes options to its capabilities', async () => {
    const { builder, driver } = scripted();
    const ready = builder.withCapabilityFactories({ memory: ({ fact }) => memory([], fact as string) });
    await runOf(ready, { capabilities: { memory: { fact: 'Likes coffee.' } } });
    expect(JSON.stringify(saidIn(driver.requests[0]?.messages ?? []))).toContain('Likes coffee.');
  });

  test('is stopped by its own budget', async () => {
    const { builder } = scripted(endless, { budget: { maxSteps: 7, maxTokens: 60 } });
    const stopped = await runOf(builder, { budget: { maxSteps: 3 } });
    expect([stopped.stepCount, stopped.stopReason]).toEqual([3, 'stepsLimitReached']);
    const tokens = await runOf(builder, { budget: { maxTokens: 75 } });
    expect([tokens.stepCount, tokens.stopReason]).toEqual([5, 'tokenLimitReached']);
  });

  test('without a budget has the budget of the builder', async () => {
    const own = await runOf(scripted(endless, { budget: { maxSteps: 4 } }).builder, {});
    expect([own.stepCount, own.stopReason]).toEqual([4, 'stepsLimitReached']);
    const none = await runOf(scripted(endless).builder, {});
    expect([none.stepCount, none.stopReason]).toEqual([20, 'stepsLimitReached']);
  });

  test.each([{}, { maxTokens: 1e9 }, ExecutionBudget.of({ maxTokens: 1e9 })])(
    'with the budget %j, which replaces that of the builder, stops at 20 steps',
    async (budget) => {
      const { builder } = scripted(endless, { budget: { maxSteps: 4 } });
      const state = await runOf(builder, { budget });
      expect([state.stepCount, state.stopReason]).toEqual([20, 'stepsLimitReached']);
    },
  );

  test.each([{ maxSteps: Infinity }, ExecutionBudget.unlimited()])(
    'with the budget %j may take any number of steps',
    async (budget) => {
      const { builder } = scripted([...endless, 'Done.'], { budget: { maxSteps: 4 } });
      const state = await runOf(builder, { budget });
      expect([state.stepCount, state.status]).toEqual([41, 'completed']);
    },
  );

  test('costs no more than its budget allows', async () => {
    const { builder } = scripted(endless, { prices: { m: { input: 1e5, output: 0 } } });
    const state = await runOf(builder, { budget: { maxCost: 2 }, llmConfig: { model: 'm' } });
    expect([state.stepCount, state.cost, state.stopReason]).toEqual([2, 2, 'costLimitReached']);
  });

  test('has the structured output, the listeners and the redaction of its builder', async () => {
    const heard: unknown[] = [];
    const answer = structuredOutput<{ n: number }>({ type: 'object', required: ['n'] });
    const { builder, driver } = scripted(['{}', '{"n":4}'], { redact: () => 'x' });
    const ready = builder
      .withHooks(answer)
      .withListeners(eventListener('inference-completed', ({ response }) => heard.push(response.text)));
    expect(answer.read(await runOf(ready, {})).n).toBe(4);
    expect(driver.requests[0]?.responseFormat).toEqual(answer.responseFormat);
    expect(heard).toEqual(['x', 'x']);
  });

  test('that cannot be built throws an error with the agent, the unknown names and the known names', () => {
    const { builder } = scripted();
    const ready = builder.withCapabilityFactories({
      memory: () => memory([]),
      broken: () => () => {
        throw new Error('no such file');
      },
      clashing: () => (before) => before.withTools(does('a')),
    });
    const says = (definition: Partial<AgentDefinition>, message: string, data: object, from = ready): void =>
      expect(() => from.build({ name: 'writer', ...definition })).toThrow(
        expect.objectContaining({
          code: 'AGENT_NOT_BUILDABLE',
          message: `${message}.`,
          data: { agent: 'writer', ...data },
        }),
      );
    says(
      { tools: ['a', 'serach', 'raed'] },
      'Unknown tools "serach", "raed" in agent "writer". Known tools: a, b',
      {
        tools: ['serach', 'raed'],
      },
    );
    // A tool of a capability that the definition does not name.
    says({ tools: ['remember'] }, 'Unknown tool "remember" in agent "writer". Known tools: a, b', {
      tools: ['remember'],
    });
    says(
      { capabilities: { memory: {}, toString: {} } },
      'Unknown capability "toString" in agent "writer". Known capabilities: memory, broken, clashing',
      { capabilities: ['toString'] },
    );
    says(
      { capabilities: { memory: {} } },
      'Unknown capability "memory" in agent "writer". Known capabilities: none',
      { capabilities: ['memory'] },
      builder,
    );
    says(
      { capabilities: { broken: {} } },
      'Agent "writer" cannot use the capability "broken": no such file',
      {
        capabilities: ['broken'],
      },
    );
    says(
      { capabilities: { clashing: {} } },
      'Agent "writer" cannot use the capability "clashing": There are two tools named "a"',
      { capabilities: ['clashing'] },
    );
    says(
      { budget: { maxCost: 1 } },
      'Agent "writer" has a budget with maxCost, which requires the prices of the models',
      {},
    );
    says(
      { toolsDeny: ['a'] },
      'Agent "writer" may not use the tool "a", but its toolChoice requires this tool',
      { tools: ['a'] },
      ready.withSettings({ toolChoice: { toolName: 'a' } }),
    );
    expect(() => ready.build({ name: 'writer', tool: [] } as never)).toThrow(
      expect.objectContaining({ code: 'CONTEXT_INVALID' }),
    );
  });
});

describe('in a session runtime', () => {
  const definition: AgentDefinition = {
    name: 'writer',
    systemPrompt: 'Be brief.',
    metadata: { team: 'docs' },
    budget: { maxSteps: 2 },
  };

  test('an agent is found as the loop of its name', async () => {
    const { builder, driver } = scripted(endless);
    const writer = builder.build(definition);
    const runtime = new SessionRuntime({ store: new MemorySessionStore(), agents: { writer } });
    const { sessionId } = await runtime.create({ definition: writer.definition });
    const { state } = await runtime.execute(sessionId, sendMessage('Go'));
    expect([state.stepCount, state.stopReason]).toEqual([2, 'stepsLimitReached']);
    expect([driver.requests[0]?.systemPrompt, state.metadata.values]).toEqual([
      'Be brief.',
      { team: 'docs' },
    ]);
  });

  test('a builder builds the agent of each session’s definition, in any process', async () => {
    const store = new MemorySessionStore();
    const process = (script: readonly ScriptedAnswer[]): SessionRuntime => {
      const { builder } = scripted(script);
      return new SessionRuntime({ store, agents: (session) => builder.build(session.definition) });
    };
    const { sessionId } = await process([]).create({ definition });
    const once = await process(endless).execute(sessionId, sendMessage('Go'));
    expect(once.state.stepCount).toBe(2);
    const unknown = { ...definition, version: '2', tools: ['gone'] };
    const later = await process([]).create({ definition: unknown });
    await expect(process([]).execute(later.sessionId, sendMessage('Go'))).rejects.toMatchObject({
      code: 'AGENT_NOT_BUILDABLE',
    });
  });
});
