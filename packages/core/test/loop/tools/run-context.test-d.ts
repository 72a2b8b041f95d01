/** The types of run contexts. Checked by the compiler; nothing here is run. */
import {
  AgentBuilder,
  createAgentLoop,
  isExecutionOf,
  SessionRuntime,
  subagent,
  tool,
  toolFor,
  type Agent,
  type AgentLoop,
  type AgentState,
  type Capability,
  type ExecuteOptions,
  type Hook,
  type HookContext,
  type RunOptions,
  type SessionInfo,
  type SessionStore,
  type Tool,
  type ToolContext,
  type ToolExecution,
} from '@holdfast/core';
import type { ApprovalContext, CapabilityFactory } from '@holdfast/core/engine';
import { scriptedDriver, toolContext } from '@holdfast/core/testing';
import { expectTypeOf } from 'vitest';
import { z } from 'zod';

interface Shop {
  readonly user: string;
  readonly refund: (order: number) => Promise<string>;
}
interface Traced {
  readonly traceId: string;
}

declare const state: AgentState;
declare const store: SessionStore;
declare const shop: Shop;
declare const traced: Traced;
declare const execution: ToolExecution;
const driver = scriptedDriver();
const described = { description: 'Does it.', inputSchema: z.object({ order: z.number() }) };

// Tools: the schema gives the type of the arguments, the factory the type of the run context

const shopTool = toolFor<Shop>();
const refund = shopTool({
  ...described,
  name: 'refund',
  needsApproval: ({ order }, context) => {
    expectTypeOf(context).toEqualTypeOf<ApprovalContext<Shop>>();
    return context.runContext.user !== 'ada' && order > 5;
  },
  reconcile: async (_, { runContext }) => ({ status: 'done', value: await runContext.refund(1) }),
  execute: ({ order }, context) => {
    expectTypeOf(order).toEqualTypeOf<number>();
    expectTypeOf(context).toEqualTypeOf<ToolContext<Shop>>();
    // @ts-expect-error the member is read-only
    context.runContext = shop;
    // @ts-expect-error the shop has no such member
    void context.runContext.owner;
    return context.runContext.refund(order);
  },
});
expectTypeOf(refund).toEqualTypeOf<Tool<{ order: number }, string, Shop>>();
const trace = toolFor<Traced>()({ ...described, name: 'trace', execute: () => 1 });
const add = tool({
  ...described,
  name: 'add',
  execute: ({ order }, { runContext }) => {
    expectTypeOf(runContext).toEqualTypeOf<unknown>();
    return order;
  },
});
const greet = shopTool({
  name: 'greet',
  description: 'Greets.',
  inputSchema: { type: 'object' },
  execute: ({ name }: { readonly name: string }, { runContext }) => `${name} ${runContext.user}`,
});
expectTypeOf(greet).toEqualTypeOf<Tool<{ readonly name: string }, string, Shop>>();
// @ts-expect-error a tool of tool() does not name the run context that it needs
tool({ ...described, name: 'x', execute: (_, { runContext }: ToolContext<Shop>) => runContext.user });
// @ts-expect-error a tool that needs a run context is not a tool for every run
void (refund satisfies Tool);
if (isExecutionOf(execution, refund)) expectTypeOf(execution.args.order).toEqualTypeOf<number>();

// A tool in a test

void refund.execute({ order: 7 }, toolContext({ runContext: shop }));
// @ts-expect-error the context lacks the run context
void refund.execute({ order: 7 }, toolContext());
void add.execute({ order: 7 }, toolContext());

// Loops: inferred from the tools

const loop = createAgentLoop({ driver, tools: [refund, greet, add] });
expectTypeOf(loop).toEqualTypeOf<AgentLoop<Shop>>();
void loop.run(state, { runContext: shop });
void loop.stream(state, { runContext: { ...shop, ...traced } });
// @ts-expect-error a run must pass the run context
void loop.run(state);
// @ts-expect-error a run must pass the run context
void loop.run(state, { budget: { maxSteps: 5 } });
// @ts-expect-error a run must pass the run context
loop.iterate(state);
// @ts-expect-error a run must pass the run context
loop.stream(state, {});
// @ts-expect-error the run context lacks a member
void loop.run(state, { runContext: { user: 'ada' } });

const plain = createAgentLoop({ driver, tools: [add] });
expectTypeOf(plain).toEqualTypeOf<AgentLoop>();
void plain.run(state);
void plain.run(state, { budget: { maxSteps: 5 } } satisfies RunOptions);
void (plain satisfies AgentLoop<Shop>);
// @ts-expect-error a loop that needs a run context is not a loop for every run
void (loop satisfies AgentLoop);

const both = createAgentLoop<Shop & Traced>({ driver, tools: [refund, trace, add] });
void both.run(state, { runContext: { ...shop, ...traced } });
// @ts-expect-error the run context lacks the shop
void both.run(state, { runContext: traced });
// @ts-expect-error the loop's run context lacks the trace
createAgentLoop<Shop>({ driver, tools: [refund, trace] });
const optional = createAgentLoop<Shop | undefined>({ driver, tools: [add] });
void optional.run(state);
void optional.run(state, { runContext: shop });

// Hooks

const audit: Hook<Shop> = {
  beforeToolUse(call, { runContext, blockedBy }) {
    expectTypeOf(runContext).toEqualTypeOf<Shop>();
    return blockedBy.length === 0 && runContext.user === 'eve' ? { block: call.toolName } : undefined;
  },
  beforeStep: (known, context) => {
    expectTypeOf(context).toEqualTypeOf<HookContext<Shop>>();
    return known;
  },
};
expectTypeOf(createAgentLoop({ driver, hooks: [audit] })).toEqualTypeOf<AgentLoop<Shop>>();
createAgentLoop<Shop>({ driver, hooks: [audit, { afterStep: (_, { runContext }) => void runContext.user }] });
// @ts-expect-error a hook that needs a run context is not a hook for every loop
createAgentLoop<Traced>({ driver, hooks: [audit] });

// Builders and capabilities

const builder = AgentBuilder.of({ driver, tools: [add] })
  .withTools(refund)
  .withHooks(audit);
expectTypeOf(builder).toEqualTypeOf<AgentBuilder<Shop>>();
expectTypeOf(builder.toLoop()).toEqualTypeOf<AgentLoop<Shop>>();
expectTypeOf(builder.build({ name: 'clerk' })).toEqualTypeOf<Agent<Shop>>();
const tracing: Capability<Traced> = (before) => before.withTools(trace);
const traces: CapabilityFactory<Traced> = () => tracing;
expectTypeOf(builder.use(tracing)).toEqualTypeOf<AgentBuilder<Shop & Traced>>();
expectTypeOf(builder.withCapabilityFactories({ traces })).toEqualTypeOf<AgentBuilder<Shop & Traced>>();
// @ts-expect-error the capability needs a run context that its type does not name
void (((before) => before.withTools(trace)) satisfies Capability);

// Subagents: the run context of the caller, or another one

const clerk = subagent({ name: 'clerk', description: 'Refunds.', loop });
expectTypeOf(clerk).toEqualTypeOf<Tool<unknown, unknown, Shop>>();
expectTypeOf(subagent({ name: 'clerk', description: 'Refunds.', loop: () => loop })).toEqualTypeOf(clerk);
const ofTrace = subagent({
  ...described,
  name: 'clerk',
  loop,
  runContext: async ({ traceId }: Traced) => ({ ...shop, user: traceId }),
  toTask: ({ order }, context) => {
    expectTypeOf(context).toEqualTypeOf<ToolContext<Traced>>();
    return String(order);
  },
});
expectTypeOf(ofTrace).toEqualTypeOf<Tool<unknown, unknown, Traced>>();
const asGuest = subagent({ name: 'clerk', description: 'Refunds.', loop, runContext: () => shop });
expectTypeOf(asGuest).toEqualTypeOf<Tool>();
// @ts-expect-error the agent needs another run context
subagent({ name: 'clerk', description: 'Refunds.', loop, runContext: () => traced });

// Runtimes

const runtime = new SessionRuntime({
  store,
  agents: { clerk: loop, plain },
  runContext: async (info) => {
    expectTypeOf(info).toEqualTypeOf<SessionInfo>();
    return { ...shop, user: info.sessionId };
  },
});
expectTypeOf<Parameters<typeof runtime.execute>[2]>().toEqualTypeOf<ExecuteOptions<Shop> | undefined>();
void runtime.execute('a', (session) => session, { runContext: shop });
// @ts-expect-error the run context lacks a member
void runtime.execute('a', (session) => session, { runContext: traced });
void (runtime satisfies SessionRuntime);
void new SessionRuntime({ store, agents: { plain } });
void new SessionRuntime({ store, agents: () => loop, runContext: () => shop });
// @ts-expect-error no worker could create the run context
void new SessionRuntime({ store, agents: { clerk: loop } });
// @ts-expect-error the agents need another run context
void new SessionRuntime({ store, agents: { clerk: loop }, runContext: () => traced });
void new SessionRuntime<Shop>({
  store,
  agents: ({ definition }) => builder.build(definition),
  runContext: () => shop,
});
