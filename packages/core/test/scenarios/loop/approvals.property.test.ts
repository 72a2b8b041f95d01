import fc from 'fast-check';
import {
  AgentState,
  createAgentLoop,
  HoldfastError,
  pendingApprovals,
  tool,
  type AgentLoop,
  type Hook,
  type JsonValue,
  type ToolContext,
  type ToolEffect,
} from '@holdfast/core';
import { InferenceResponse, type StandardSchema } from '@holdfast/core/driver';
import { withDecision } from '@holdfast/core/engine';
import { steppedClock } from '@holdfast/core/testing';
import { expect, test } from 'vitest';
import { cases } from '../../../../../tools/config/vitest.properties.ts';
import { driverOf } from '../../support/builders.ts';

/** How a schema treats arguments. `count` is the number of checks before. */
const CHECKS = {
  keeps: (input: JsonValue) => input,
  defaults: (input: JsonValue) => ({ to: 'eve', ...(input as object) }),
  otherDefaults: (input: JsonValue) => ({ to: 'bob', cents: 1, ...(input as object) }),
  prices: (input: JsonValue, count: number) => ({ ...(input as object), price: 40 + 20 * count }),
  strips: (input: JsonValue) => ({ amount: (input as { amount?: number }).amount ?? 0 }),
  texts: (input: JsonValue) => JSON.stringify(input),
  nothing: () => null,
  dates: () => new Date(0),
  flickers: (input: JsonValue, count: number) => (count % 2 === 0 ? REFUSED : input),
  flickersLater: (input: JsonValue, count: number) => (count % 3 === 2 ? REFUSED : input),
  refuses: () => REFUSED,
  throws: () => {
    throw new Error('The schema is broken.');
  },
};
const REFUSED = Symbol('refused');

const RULES = {
  none: undefined,
  asks: () => true,
  allows: () => false,
  forgets: () => undefined,
  counts: () => 0,
  speaks: () => 'no',
  judges: (args: unknown) => !JSON.stringify(args ?? null).includes('"price":40'),
  spoils: (args: unknown) => {
    if (typeof args === 'object' && args !== null) Object.assign(args, { amount: 1_000_000 });
    return false;
  },
  flickers: (_: unknown, count: number) => count % 2 === 0,
  flickersLater: (_: unknown, count: number) => count % 2 === 1,
  throws: () => {
    throw new Error('The rule service is down.');
  },
};

/** One release of the agent: its tool, and where its process dies. */
interface Release {
  readonly check: keyof typeof CHECKS;
  readonly isCheckAsync: boolean;
  readonly rule: keyof typeof RULES;
  readonly isRuleAsync: boolean;
  readonly effect: ToolEffect;
  /** The attempts that fail before one succeeds; the tool has three. */
  readonly failures: number;
  /** True when a hook changes the arguments of the model. */
  readonly changes: boolean;
  /** The save after which the process dies; the last one when there are fewer. */
  readonly dies: number;
  readonly decision: 'approves' | 'denies' | 'edits' | 'waits';
  readonly edit: JsonValue;
}

const inputs = fc.constantFrom<JsonValue>({ amount: 1 }, { amount: 5, to: 'ann' }, {}, 'text', null);
const releases: fc.Arbitrary<Release> = fc.record({
  check: fc.constantFrom(...(Object.keys(CHECKS) as Release['check'][])),
  isCheckAsync: fc.boolean(),
  rule: fc.constantFrom(...(Object.keys(RULES) as Release['rule'][])),
  isRuleAsync: fc.boolean(),
  effect: fc.constantFrom<ToolEffect>('readOnly', 'idempotent', 'ask', 'once'),
  failures: fc.integer({ min: 0, max: 2 }),
  changes: fc.boolean(),
  dies: fc.integer({ min: 0, max: 8 }),
  decision: fc.constantFrom('approves', 'approves', 'edits', 'denies', 'waits'),
  edit: inputs,
});

/** The approvals of people, and the starts that neither a rule nor a person has allowed. */
class Audit {
  /** The approved values, each as `id value`. */
  approved: string[] = [];
  readonly unallowed: string[] = [];
  starts = 0;
}

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  );

function loopOf(release: Release, calls: readonly JsonValue[], audit: Audit, start: number): AgentLoop {
  const { check, isCheckAsync, rule, isRuleAsync, effect } = release;
  let [checks, asked, attempts] = [0, 0, 0];
  /** The values that the rule of this process allowed for the next start, by call. */
  const allowed = new Map<string, string>();
  const validate = (input: unknown): ReturnType<StandardSchema['~standard']['validate']> => {
    const value: unknown = CHECKS[check](input as JsonValue, checks++);
    const result = value === REFUSED ? { issues: [{ message: 'refused' }] } : { value };
    return isCheckAsync ? Promise.resolve(result) : result;
  };
  const decide = RULES[rule];
  const needsApproval = (args: unknown, { toolCallId }: { readonly toolCallId: string }): boolean => {
    const judged = textOf(args);
    const answer: unknown = decide?.(args, asked++);
    if (answer === false) allowed.set(toolCallId, judged);
    return (isRuleAsync ? Promise.resolve(answer) : answer) as boolean;
  };
  const execute = (args: unknown, { toolCallId, idempotencyKey }: ToolContext): string => {
    const value = textOf(args);
    audit.starts += 1;
    const isAllowed = decide === undefined || allowed.get(toolCallId) === value;
    allowed.delete(toolCallId); // the next start asks again
    if (!isAllowed && !audit.approved.includes(`${idempotencyKey} ${value}`))
      audit.unallowed.push(`${toolCallId} received ${value}`);
    if (typeof args === 'object' && args !== null) Object.assign(args, { amount: -1 });
    if (attempts++ < release.failures) throw new HoldfastError('TOOL_FAILED', 'busy');
    return 'paid';
  };
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { '~standard': { version: 1, vendor: 'mine', validate } },
    jsonSchema: {},
    effect,
    retry: { maxAttempts: 3, delaySeconds: 0 },
    ...(decide && { needsApproval }),
    execute,
  });
  const hook: Hook = {
    beforeToolUse: (call) => ({ call: { ...call, input: { amount: 7 } } }),
  };
  const driver = driverOf(async ({ messages }) =>
    messages.toArray().some(({ role }) => role === 'assistant')
      ? InferenceResponse.of({ text: 'Done.' })
      : InferenceResponse.of({
          content: calls.map((input, place) => {
            return { type: 'tool-call' as const, toolCallId: `call_${place}`, toolName: 'pay', input };
          }),
        }),
  );
  const clock = steppedClock(start);
  return createAgentLoop({ driver, tools: [pay], clock, ...(release.changes && { hooks: [hook] }) });
}

/** Decides what waits. An edit that the tool refuses, or that must be shown again, stays undecided. */
async function decided(
  from: AgentState,
  loop: AgentLoop,
  { decision, edit }: Release,
  audit: Audit,
): Promise<AgentState> {
  let state = from;
  if (decision === 'waits') return state;
  for (const { id, args, approval } of pendingApprovals(state)) {
    const seen = { toolExecutionId: id, requestedAt: approval?.requestedAt ?? 0 };
    const isEdit = decision === 'edits';
    const made = {
      ...seen,
      decision: decision === 'denies' ? ('denied' as const) : ('approved' as const),
      ...(isEdit && { input: edit }),
    };
    const next = await withDecision(state, made, loop.tools, state.updatedAt).catch(() => state);
    const isApproved = next !== state && pendingApprovals(next).every((call) => call.id !== id);
    if (isApproved && decision !== 'denies') audit.approved.push(`${id} ${textOf(isEdit ? edit : args)}`);
    state = next;
  }
  return state;
}

test('no call starts with a value that its rule has not allowed and nobody has approved', async () => {
  let [starts, approvals] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.array(releases, { minLength: 1, maxLength: 4 }),
      fc.array(inputs, { minLength: 1, maxLength: 2 }),
      async (all, calls) => {
        const audit = new Audit();
        let state = AgentState.empty().withUserMessage('Pay.');
        for (const [place, release] of all.entries()) {
          const loop = loopOf(release, calls, audit, 1_000 * (place + 1));
          const saves: { readonly json: string; readonly approved: readonly string[] }[] = [];
          const save = async (saved: AgentState): Promise<AgentState> => {
            saves.push({ json: JSON.stringify(saved), approved: [...audit.approved] });
            return saved;
          };
          const waiting = await decided(state, loop, release, audit);
          const ended = await loop.run(waiting, { checkpoint: { save } });
          await save(ended);
          // An approval after the save at which the process died is lost: a person has to approve again.
          const last = saves[Math.min(release.dies, saves.length - 1)];
          if (last === undefined) break;
          audit.approved = [...last.approved];
          state = AgentState.fromJSON(JSON.parse(last.json));
        }
        [starts, approvals] = [starts + audit.starts, approvals + audit.approved.length];
        expect(audit.unallowed).toEqual([]);
      },
    ),
    cases(500),
  );
  expect([starts > 0, approvals > 0]).toEqual([true, true]);
});
