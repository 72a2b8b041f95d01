/** What must compile, and what must not. Checked by the compiler; nothing here is run. */
import {
  AgentBuilder,
  createAgentLoop,
  isExecutionOf,
  metadataKey,
  subagent,
  summaries,
  tool,
  toolResult,
  type Agent,
  type AgentEvent,
  type AgentLoop,
  type AgentLoopOptions,
  type AgentState,
  type Capability,
  type ExecutionBudget,
  type Hook,
  type JsonObject,
  type JsonValue,
  type Tool,
  type ToolContext,
  type ToolExecution,
} from '@holdfast/core';
import type { AiSdkSchema, InferenceResponse, StandardSchema } from '@holdfast/core/driver';
import type { CapabilityFactory, ToolExecutionOf } from '@holdfast/core/engine';
import { scriptedDriver, toolContext, type ScriptedAnswer } from '@holdfast/core/testing';
import { expectTypeOf } from 'vitest';
import { z } from 'zod';

declare const state: AgentState;
declare const response: InferenceResponse;
const named = { name: 'add', description: 'Adds two numbers.' };

// Arguments of tools follow from the schema

const pair = z.object({ a: z.number(), b: z.string().optional(), c: z.string().default('x') });

const added: Tool = tool({
  ...named,
  inputSchema: pair,
  execute: (args, context) => {
    expectTypeOf(args).toEqualTypeOf<{ a: number; b?: string | undefined; c: string }>();
    expectTypeOf(context).toEqualTypeOf<ToolContext>();
    // @ts-expect-error there is no such argument
    void args.d;
    // @ts-expect-error a number is not a text
    args.a satisfies string;
    return args.a;
  },
});
expectTypeOf(added).toEqualTypeOf<Tool>();

// What the schema makes of the arguments, not what the model gave.
tool({
  ...named,
  inputSchema: z.object({ at: z.string().transform((text) => new Date(text)) }),
  jsonSchema: { type: 'object' },
  execute: ({ at }) => expectTypeOf(at).toEqualTypeOf<Date>(),
});

declare const other: StandardSchema<{ readonly id: string }>;
tool({
  ...named,
  inputSchema: other,
  execute: (args) => expectTypeOf(args).toEqualTypeOf<{ readonly id: string }>(),
});

// So do those of a schema of the AI SDK.
declare const ofAiSdk: AiSdkSchema<{ readonly id: string }>;
tool({
  ...named,
  inputSchema: ofAiSdk,
  execute: (args) => expectTypeOf(args).toEqualTypeOf<{ readonly id: string }>(),
});

// A JSON Schema says nothing to the compiler: any object, or what the author says.
tool({
  ...named,
  inputSchema: { type: 'object' },
  execute: (args) => expectTypeOf(args).toEqualTypeOf<JsonObject>(),
});
tool({
  ...named,
  inputSchema: { type: 'object' },
  execute: ({ a }: { readonly a: number }) => expectTypeOf(a).toEqualTypeOf<number>(),
});

// @ts-expect-error these are not the arguments of the schema
tool({ ...named, inputSchema: pair, execute: ({ a }: { readonly a: string }) => a });
// @ts-expect-error a tool needs a schema
tool({ ...named, execute: () => 1 });
// A tool without execute is a question: its value is the answer.
expectTypeOf(tool({ ...named, inputSchema: pair })).toExtend<Tool<{ a: number }>>();
const asks = tool({ ...named, inputSchema: pair, outputSchema: z.object({ city: z.string() }) });
expectTypeOf<ToolExecutionOf<typeof asks>['value']>().toEqualTypeOf<{ readonly city: string } | undefined>();
expectTypeOf<ToolExecutionOf<typeof asks>['args']['a']>().toEqualTypeOf<number>();
tool({ ...named, inputSchema: pair, needsApproval: ({ a }) => a > 5, answerTimeoutSeconds: 60 });
const asksAnything = tool({ ...named, inputSchema: { type: 'object' } });
expectTypeOf<ToolExecutionOf<typeof asksAnything>['value']>().toEqualTypeOf<JsonValue | undefined>();
// @ts-expect-error a question runs no code that could be repeated
tool({ ...named, inputSchema: pair, effect: 'once' });
// @ts-expect-error the answer to a tool with code is what the code returns
tool({ ...named, inputSchema: pair, outputSchema: pair, execute: () => 1 });
// @ts-expect-error a time-out is a number
tool({ ...named, inputSchema: pair, execute: () => 1, timeoutSeconds: '5' });
// @ts-expect-error how often is to be said
tool({ ...named, inputSchema: pair, execute: () => 1, retry: { delaySeconds: 1 } });

// What tools can say, and return

tool({
  ...named,
  inputSchema: pair,
  execute: (_, { saveProgress, addUsage, remaining, emit, progress, state: known }) => {
    expectTypeOf(known).toEqualTypeOf<AgentState>();
    expectTypeOf(progress).toEqualTypeOf<JsonValue | undefined>();
    expectTypeOf(remaining()).toEqualTypeOf<ExecutionBudget>();
    expectTypeOf(emit).parameter(0).toEqualTypeOf<AgentEvent>();
    addUsage({ inputTokens: 5 });
    // @ts-expect-error a number of tokens is a number
    addUsage({ inputTokens: '5' });
    // @ts-expect-error counts of unknown numbers follow from the others
    addUsage({ unpricedCalls: 1 });
    // @ts-expect-error progress is JSON
    saveProgress(1n);
    // @ts-expect-error progress is JSON
    saveProgress(new Date());
    return toolResult({ value: 1, metadata: { a: 1 }, modelOutput: { type: 'text', value: 'One.' } });
  },
});
// @ts-expect-error facts have names
toolResult({ value: 1, metadata: 5 });
// @ts-expect-error an output for the model has a type
toolResult({ value: 1, modelOutput: 'One.' });
// @ts-expect-error a value, even if there is none
toolResult({});
// @ts-expect-error there is no such part of a context
toolContext({ retries: 5 });

// Subagents: the task follows from the schema

declare const loop: AgentLoop;
expectTypeOf(subagent({ ...named, loop })).toEqualTypeOf<Tool>();
subagent({ ...named, loop: () => loop, systemPrompt: 'Be brief.', budget: { maxTokens: 5 }, maxDepth: 2 });
subagent({
  ...named,
  loop,
  toTask: (args) => {
    expectTypeOf(args).toEqualTypeOf<{ readonly prompt: string }>();
    return args.prompt;
  },
});
subagent({
  ...named,
  loop,
  inputSchema: pair,
  toTask: (args, context) => {
    expectTypeOf(args).toEqualTypeOf<{ a: number; b?: string | undefined; c: string }>();
    expectTypeOf(context).toEqualTypeOf<ToolContext>();
    return args.a > 5 ? args.c : state;
  },
  toResult: (agent, args) => {
    expectTypeOf(agent).toEqualTypeOf<AgentState>();
    return args.a;
  },
});
subagent({
  ...named,
  loop,
  inputSchema: { type: 'object' },
  toTask: ({ topic }: { readonly topic: string }) => topic,
});
// @ts-expect-error an agent works by a loop
subagent({ ...named });
// @ts-expect-error from other arguments the task does not follow by itself
subagent({ ...named, loop, inputSchema: pair });
// @ts-expect-error a task is a message or a state
subagent({ ...named, loop, inputSchema: pair, toTask: ({ a }) => a });
// @ts-expect-error these are not the arguments of the schema
subagent({ ...named, loop, inputSchema: pair, toTask: ({ d }) => d });
// @ts-expect-error there is no such limit
subagent({ ...named, loop, budget: { steps: 5 } });
// @ts-expect-error how deep is a number
subagent({ ...named, loop, maxDepth: '3' });
// @ts-expect-error there is no such option
subagent({ ...named, loop, depth: 3 });
// @ts-expect-error a run has limits, not counts
void loop.run(state, { budget: { steps: 5 } });

// Hooks return what their point takes

const hooks: readonly Hook[] = [
  { beforeStep: () => state, afterStep: async () => state, onStop: () => undefined, onError: () => {} },
  { beforeInference: (request) => ({ request, state }), afterInference: () => ({ response }) },
  { beforeToolUse: (call) => ({ call, block: 'no' }), afterToolUse: (toolExecution) => ({ toolExecution }) },
  { stepDeadline: () => ({ at: 5, signal: { reason: 'stopRequested', message: 'Enough.' } }) },
];
createAgentLoop({ driver: scriptedDriver(), hooks });

// @ts-expect-error a state, not what is in it
void ({ beforeStep: () => state.messages } satisfies Hook);
// @ts-expect-error a bare state would be lost
void ({ beforeInference: () => state } satisfies Hook);
// @ts-expect-error a response, not its parts
void ({ afterInference: () => ({ response: { text: 'Hi.' } }) } satisfies Hook);
// @ts-expect-error a reason, not a truth
void ({ beforeToolUse: () => ({ block: true }) } satisfies Hook);
// @ts-expect-error an execution, not its outcome
void ({ afterToolUse: ({ outcome }) => ({ toolExecution: outcome }) } satisfies Hook);
// @ts-expect-error there is no such point
void ({ beforeTool: () => undefined } satisfies Hook);
void ({
  // @ts-expect-error a moment is a number
  stepDeadline: () => ({ at: new Date(), signal: { reason: 'unknown', message: '' } }),
} satisfies Hook);
// @ts-expect-error there is no such reason
void ({ stepDeadline: () => ({ at: 5, signal: { reason: 'boredom', message: '' } }) } satisfies Hook);

// Limits and prices

const driver = scriptedDriver();
void ({ driver, budget: { maxSteps: 5, deadline: Date.now() } } satisfies AgentLoopOptions);
// @ts-expect-error there is no such limit
void ({ driver, budget: { maxStep: 5 } } satisfies AgentLoopOptions);
// @ts-expect-error a deadline is a number
void ({ driver, budget: { deadline: new Date() } } satisfies AgentLoopOptions);
// @ts-expect-error output has a price too
void ({ driver, prices: { 'gpt-5': { input: 1 } } } satisfies AgentLoopOptions);

// Builders and capabilities

const builder = AgentBuilder.of({ driver })
  .withTools(added)
  .use(summaries({ maxTokens: 100 }));
expectTypeOf(builder).toEqualTypeOf<AgentBuilder>();
expectTypeOf(builder.build({ name: 'writer' })).toEqualTypeOf<Agent>();
void (((before) => before.withHooks({})) satisfies Capability);
builder.withCapabilityFactories({
  summaries: ({ maxTokens }) => summaries({ maxTokens: Number(maxTokens) }),
});
// @ts-expect-error a capability returns the builder
builder.use((before) => void before.withTools(added));
// @ts-expect-error the builder, not its options
builder.use((before) => before.options);
// @ts-expect-error at once, not later
builder.use(async (before) => before.withTools(added));
// @ts-expect-error a capability, not what makes one
builder.use(summaries);
// @ts-expect-error what makes a capability, not one
builder.withCapabilityFactories({ memory: (before: AgentBuilder) => before.withTools(added) });
// @ts-expect-error options come from a file and may be any JSON
void (((options: { readonly maxTokens: number }) => summaries(options)) satisfies CapabilityFactory);
// @ts-expect-error tools are added, not set
builder.withSettings({ tools: [added] });
// @ts-expect-error there is no such option
AgentBuilder.of({ driver, maxStep: 5 });
// @ts-expect-error a builder is made by of()
void new AgentBuilder({ options: {}, capabilityFactories: {} });
// @ts-expect-error an agent has a name
builder.build({ tools: ['add'] });

// Metadata by typed keys

const customer = metadataKey<string>('customer');
const visits = metadataKey<{ readonly count: number }>('visits');
expectTypeOf(state.metadata.get(customer)).toEqualTypeOf<string | undefined>();
expectTypeOf(state.metadata.get(visits)).toEqualTypeOf<{ readonly count: number } | undefined>();
expectTypeOf(state.metadata.get('anything')).toEqualTypeOf<JsonValue | undefined>();
expectTypeOf(state.withMetadata(customer, 'Ada')).toEqualTypeOf<AgentState>();
// @ts-expect-error a text, not a number
state.withMetadata(customer, 5);
// @ts-expect-error the shape of the key
state.withMetadata(visits, { counts: 5 });
// @ts-expect-error metadata is JSON
state.withMetadata('anything', 5n);
// @ts-expect-error metadata is JSON
metadataKey<Date>('at');
// @ts-expect-error a text, not a number
state.metadata.get(customer) satisfies number | undefined;

// Executions of tools that are known

interface Forecast {
  readonly celsius: number;
  readonly at: Date;
  readonly note?: string | undefined;
}
const weather = tool({
  name: 'weather',
  description: 'Tells the weather.',
  inputSchema: z.object({ city: z.string(), days: z.number().default(1) }),
  execute: ({ city, days }): Forecast => ({ celsius: city.length + days, at: new Date() }),
});
declare const execution: ToolExecution;
if (isExecutionOf(execution, weather)) {
  expectTypeOf(execution.args.city).toEqualTypeOf<string>();
  expectTypeOf(execution.args.days).toEqualTypeOf<number | undefined>();
  expectTypeOf(execution.value?.celsius).toEqualTypeOf<number | undefined>();
  expectTypeOf(execution.value?.at).toEqualTypeOf<string | undefined>();
  // @ts-expect-error there is no such argument
  void execution.args.town;
  // @ts-expect-error there is no such member
  void execution.value?.kelvin;
}
expectTypeOf(execution.args).toEqualTypeOf<JsonValue>();
void ([weather] satisfies readonly Tool[]);
void state.lastStep?.toolExecutions
  .filter((each) => isExecutionOf(each, weather))
  .map(({ args }) => args.city);

// Rest parameters are arrays that callers may build up

expectTypeOf<Parameters<typeof scriptedDriver>>().toEqualTypeOf<ScriptedAnswer[]>();
expectTypeOf<Parameters<AgentBuilder['withTools']>>().toEqualTypeOf<Tool[]>();
expectTypeOf<Parameters<AgentBuilder['withHooks']>>().toEqualTypeOf<Hook[]>();
expectTypeOf<Parameters<AgentBuilder['withListeners']>>().toEqualTypeOf<((event: AgentEvent) => void)[]>();
