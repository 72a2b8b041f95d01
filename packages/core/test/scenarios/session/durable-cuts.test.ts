import fc from 'fast-check';
import {
  AgentState,
  createAgentLoop,
  HoldfastError,
  pendingApprovals,
  subagent,
  textOf,
  tool,
  type AgentLoop,
  type Hook,
  type JsonValue,
  type Message,
  type Tool,
  type ToolContext,
  type ToolEffect,
} from '@holdfast/core';
import { InferenceResponse, type Driver } from '@holdfast/core/driver';
import { withDecision, type Checkpoint } from '@holdfast/core/engine';
import { steppedClock } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { cases } from '../../../../../tools/config/vitest.properties.ts';
import { driverOf, expectPaired, expectSound, saidIn, told } from '../../support/builders.ts';

/** One call of a scenario: what its tool is, and how it behaves. */
interface Call {
  readonly effect: ToolEffect;
  readonly turns: number;
  readonly fails: boolean;
  readonly approval: 'none' | 'approved' | 'denied';
  /** The steps of a subagent, when it is one. */
  readonly inner?: readonly (readonly Call[])[];
}

interface Scenario {
  readonly steps: readonly (readonly Call[])[];
  readonly hooks: boolean;
  readonly changes: boolean;
  readonly maxParallelTools: number;
}

interface Effect {
  readonly key: string;
  readonly effect: ToolEffect;
}

const plainCall = fc.record({
  effect: fc.constantFrom<ToolEffect>('readOnly', 'idempotent', 'ask', 'once'),
  turns: fc.integer({ min: 0, max: 12 }),
  fails: fc.boolean(),
});
const innerCall: fc.Arbitrary<Call> = plainCall.map((call) => ({ ...call, approval: 'none' as const }));
const outerCall: fc.Arbitrary<Call> = fc.oneof(
  fc
    .record({ call: plainCall, approval: fc.constantFrom('none', 'none', 'approved', 'denied') })
    .map(({ call, approval }): Call => ({ ...call, approval })),
  fc
    .array(fc.array(innerCall, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 2 })
    .map((inner): Call => ({ effect: 'once', turns: 0, fails: false, approval: 'none', inner })),
);
const scenarios: fc.Arbitrary<Scenario> = fc.record({
  steps: fc.array(fc.array(outerCall, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
  hooks: fc.boolean(),
  changes: fc.boolean(),
  maxParallelTools: fc.integer({ min: 1, max: 3 }),
});

/** Answers by what the request shows, so that any process gives the same answers. */
function driverFor(steps: readonly (readonly Call[])[], place: string): Driver {
  return driverOf(async ({ messages }) => {
    const list = [...messages];
    expectPaired(list);
    const turn = list.filter(({ role }) => role === 'assistant').length;
    const calls = steps[turn];
    if (calls === undefined) return InferenceResponse.of({ text: `Done ${place}.` });
    return InferenceResponse.of({
      content: calls.map((call, index) => ({
        type: 'tool-call' as const,
        toolCallId: `${place}${turn}.${index}`,
        toolName: call.inner ? 'agent' : `${call.effect}${call.approval === 'none' ? '' : '-approved'}`,
        input: { place: `${place}${turn}.${index}` },
      })),
    });
  });
}

function callAt(steps: readonly (readonly Call[])[], place: string): Call {
  const [outer = '', inner] = place.split('/');
  const at = (list: readonly (readonly Call[])[], text: string): Call => {
    const [turn = 0, index = 0] = text.split('.').map(Number);
    return list[turn]?.[index] as Call;
  };
  const call = at(steps, outer);
  return inner === undefined ? call : at(call.inner ?? [], inner);
}

/** A process: its own clock and ids, the tools of the scenario, and what they did to the world. */
function processOf(
  { steps, hooks, maxParallelTools }: Scenario,
  start: number,
  effects: Effect[],
): AgentLoop {
  const clock = steppedClock(start);
  const act = async ({ place }: { readonly place: string }, context: ToolContext): Promise<JsonValue> => {
    const { effect, turns, fails } = callAt(steps, place);
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    effects.push({ key: context.idempotencyKey, effect });
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    if (fails) throw new HoldfastError('TOOL_FAILED', `failed at ${place}`);
    return `did ${place}`;
  };
  const toolOf = (effect: ToolEffect, name: string = effect): Tool =>
    tool({
      name,
      description: name,
      inputSchema: { type: 'object' },
      effect,
      needsApproval: name !== effect,
      execute: act,
    });
  const effectsOf = ['readOnly', 'idempotent', 'ask', 'once'] as const;
  const plain = effectsOf.map((effect) => toolOf(effect));
  const hook: Hook = {
    beforeToolUse: async () => undefined,
    afterToolUse: async () => undefined,
    afterStep: async () => undefined,
  };
  const common = { clock, maxParallelTools, hooks: hooks ? [hook] : [] };
  const agent = subagent({
    name: 'agent',
    description: 'An agent.',
    inputSchema: { type: 'object' },
    toTask: ({ place }: { readonly place: string }) => place,
    loop: {
      ...createAgentLoop({ driver: driverOf(() => Promise.reject(new Error('unused'))) }),
      run: (state, options) => {
        const place = textOf(state.messages.at(0) as Message);
        const inner = callAt(steps, place).inner ?? [];
        return createAgentLoop({ ...common, driver: driverFor(inner, `${place}/`), tools: plain }).run(
          state,
          options,
        );
      },
    },
  });
  const approved = effectsOf.map((effect) => toolOf(effect, `${effect}-approved`));
  return createAgentLoop({ ...common, driver: driverFor(steps, ''), tools: [...plain, ...approved, agent] });
}

/** Runs to the end; whoever is asked decides as the scenario says. */
async function toEnd(
  loop: AgentLoop,
  from: AgentState,
  scenario: Scenario,
  checkpoint?: Checkpoint,
): Promise<AgentState> {
  let state = await loop.run(from, { checkpoint });
  for (let turn = 0; state.status === 'suspended' && turn < 10; turn++) {
    for (const { id, args, approval: request } of pendingApprovals(state)) {
      const { approval } = callAt(scenario.steps, (args as { readonly place: string }).place);
      const decision = approval === 'denied' ? 'denied' : 'approved';
      const seen = { toolExecutionId: id, requestedAt: request?.requestedAt as number };
      state = await withDecision(state, { ...seen, decision }, loop.tools, state.updatedAt);
    }
    state = await loop.run(state.withExecutionStatus('inProgress', state.updatedAt), { checkpoint });
  }
  return state;
}

test('a run that is killed at any save ends in another process with the same result, and no tool with effect once runs twice', async () => {
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      const effects: Effect[] = [];
      const saves: { readonly json: string; readonly begunAt: number }[] = [];
      const checkpoint: Checkpoint = {
        save: async (state) => {
          saves.push({ json: JSON.stringify(state), begunAt: effects.length });
          for (let turn = 0; turn < 3; turn++) await Promise.resolve();
          return scenario.changes ? state.withMetadata('saves', saves.length, state.updatedAt) : state;
        },
      };
      const whole = await toEnd(processOf(scenario, 0, effects), told(), scenario, checkpoint);
      expect([whole.status, whole.finalResponse]).toEqual(['completed', 'Done .']);
      expectSound(whole);
      expectPaired(whole.messages);
      for (const [index, { json }] of saves.entries()) {
        const done = effects.slice(0, saves[index + 1]?.begunAt ?? effects.length);
        const state = AgentState.fromJSON(JSON.parse(json));
        const last = await toEnd(processOf(scenario, (index + 1) * 100_000, done), state, scenario);
        expect(last.status).toBe('completed');
        expectSound(last);
        expectPaired(last.messages);
        const once = done.filter(({ effect }) => effect === 'once').map(({ key }) => key);
        expect(new Set(once).size, `cut at save ${index + 1}`).toBe(once.length);
        const isOtherwise = /TOOL_INTERRUPTED/.test(JSON.stringify(last));
        const expected = isOtherwise ? last : whole;
        expect(saidIn(last.messages), `cut at save ${index + 1}`).toEqual(saidIn(expected.messages));
      }
    }),
    cases(15),
  );
});
