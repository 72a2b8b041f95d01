import {
  assistantMessage,
  AgentState,
  AgentStop,
  createAgentLoop,
  HoldfastError,
  tool,
  type AgentLoopOptions,
  type BudgetLimits,
  type Clock,
  type Hook,
  type ToolCallPart,
} from '@holdfast/core';
import { InferenceResponse, type InferenceResponseInit } from '@holdfast/core/driver';
import type { AgentEventType, HookPoint } from '@holdfast/core/engine';
import { manualClock, steppedClock, type ManualClock, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  call,
  deferred,
  does,
  driverOf,
  expectSound,
  observe,
  POINTS,
  scriptedLoop,
  told,
  type Scenario,
} from '../../support/builders.ts';

// What is seen of a run, in the words of section 5: hooks by name, events with a plus.

const begins = '+started beforeExecution';
const infers = (step: number): string => `beforeStep +step ${step} beforeInference +infer`;
const asks = (step: number): string => `${infers(step)} afterInference +answer tool-calls`;
const answers = (step: number, reason = 'stop'): string => `${infers(step)} afterInference +answer ${reason}`;
const starts = (name: string): string => `beforeToolUse ${name} +started ${name}`;
const ends = (name: string, outcome = 'succeeded'): string => `+${outcome} ${name} afterToolUse ${name}`;
const uses = (name: string, outcome?: string): string => `${starts(name)} ${ends(name, outcome)}`;
const goesOn = (step: number): string => `afterStep +step-done ${step} +continue`;
const stops = (step: number): string => `afterStep +step-done ${step} +stop`;
/** A step that something threw in: its AfterStep is left out. */
const breaksOff = (step: number): string => `+step-done ${step} +stop`;
const forced = 'onStop';
const over = (status: string): string => `afterExecution +${status}`;

interface Row extends Scenario {
  readonly name: string;
  readonly trace: readonly string[];
  /** Status, and the stop reason when there is one: `stopped userRequested`. */
  readonly end: string;
  /** Types of the finished steps. */
  readonly steps: string;
  /** The conversation: a letter for each message (user, assistant, tool). */
  readonly roles: string;
  /** Codes of the errors, or their messages. */
  readonly errors?: readonly string[];
  /** The last tool results, as the model reads them. */
  readonly results?: readonly string[];
  readonly also?: (state: AgentState) => void;
}

async function runRow(row: Row): Promise<void> {
  const { name: _, trace: expected, end, steps, roles, errors = [], results, also, ...scenario } = row;
  const { state, trace, driver } = await observe(scenario);
  expect(trace.join(' ')).toBe(expected.join(' '));
  driver.assertComplete();
  expect({
    end: [state.status, state.stopReason].filter(Boolean).join(' '),
    steps: state.steps.map(({ type }) => type).join(' '),
    roles: [...state.messages].map(({ role }) => role[0]).join(''),
    errors: state.errors.map(({ code, message }) => code ?? message),
  }).toEqual({ end, steps, roles, errors });
  expect(results ?? resultsOf(state)).toEqual(resultsOf(state));
  also?.(state);
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** All tool results of the conversation, as texts. */
function resultsOf(state: AgentState): string[] {
  return [...state.messages].flatMap((message) =>
    message.role !== 'tool'
      ? []
      : message.content.map(({ output }) =>
          'value' in output ? textOf(output.value) : (output.reason ?? ''),
        ),
  );
}
const add = does('add', () => 4);
const fails = does('fails', () => {
  throw new Error('no luck');
});
const stopping = does('stopping', () => {
  throw new AgentStop({ reason: 'costLimitReached', message: 'too dear' });
});
const [a, b, c] = [does('a'), does('b'), does('c')];

describe('the order of events and hooks', () => {
  /** Three tools that end in reverse order: each when the one after it has ended. */
  function reversed(): Pick<Scenario, 'tools' | 'hooks'> {
    const ended = { a: deferred(), b: deferred(), c: deferred() };
    return {
      tools: [
        does('a', () => ended.b.promise.then(() => 'a')),
        does('b', () => ended.c.promise.then(() => 'b')),
        does('c'),
      ],
      hooks: [{ afterToolUse: ({ name }) => ended[name as 'a' | 'b' | 'c'].resolve() }],
    };
  }

  const rows: readonly Row[] = [
    {
      name: 'a final response',
      script: ['Hello.'],
      trace: [begins, answers(1), stops(1), over('completed')],
      end: 'completed',
      steps: 'finalResponse',
      roles: 'ua',
    },
    {
      name: 'one tool',
      script: [call('add'), 'It is 4.'],
      tools: [add],
      trace: [begins, asks(1), uses('add'), goesOn(1), answers(2), stops(2), over('completed')],
      end: 'completed',
      steps: 'toolExecution finalResponse',
      roles: 'uata',
      results: ['4'],
    },
    {
      name: 'three tools that end in reverse: results stay in call order',
      script: [call('a', 'b', 'c'), 'Done.'],
      ...reversed(),
      trace: [
        begins,
        asks(1),
        starts('a'),
        starts('b'),
        starts('c'),
        ends('c'),
        ends('b'),
        ends('a'),
        goesOn(1),
        answers(2),
        stops(2),
        over('completed'),
      ],
      end: 'completed',
      steps: 'toolExecution finalResponse',
      roles: 'uata',
      results: ['a', 'b', 'c'],
      also: (state) =>
        expect(state.steps[0]?.executedToolCalls.map((made) => made.toolName)).toEqual(['a', 'b', 'c']),
    },
    {
      name: 'three tools one at a time',
      script: [call('a', 'b', 'c'), 'Done.'],
      tools: [a, b, c],
      maxParallelTools: 1,
      trace: [
        begins,
        asks(1),
        uses('a'),
        uses('b'),
        uses('c'),
        goesOn(1),
        answers(2),
        stops(2),
        over('completed'),
      ],
      end: 'completed',
      steps: 'toolExecution finalResponse',
      roles: 'uata',
      results: ['a', 'b', 'c'],
    },
    {
      name: 'an empty response',
      script: [{ content: [] }, 'At last.'],
      trace: [
        begins,
        infers(1),
        '+inference-failed +step-restarted beforeInference +infer',
        'afterInference +answer stop',
        stops(1),
        over('completed'),
      ],
      end: 'completed',
      steps: 'finalResponse',
      roles: 'ua',
    },
  ];
  test.each(rows)('$name', runRow);
});

describe('tools that fail', () => {
  const inputSchema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
  const strict = tool({ name: 'strict', description: '', inputSchema, execute: () => 'ran' });
  const zodded = tool({
    name: 'zodded',
    description: '',
    inputSchema: z.object({ a: z.number(), deep: z.object({ b: z.string() }).optional() }),
    execute: ({ a: given }) => `ran ${given}`,
  });
  const odd = tool({
    name: 'odd',
    description: '',
    inputSchema: { type: 'object' },
    execute: () => 1,
    toModelOutput: () => ({ type: 'text', value: 5 }) as never,
  });
  const input = (
    toolName: string,
    value: ToolCallPart['input'],
    more: Partial<ToolCallPart> = {},
  ): ScriptedAnswer => ({
    content: [{ type: 'tool-call', toolCallId: 'call', toolName, input: value, ...more }],
  });
  const recovers = { steps: 'error finalResponse', roles: 'uata', end: 'completed' };
  const recovery = (name: string): readonly string[] => [
    begins,
    asks(1),
    uses(name, 'failed'),
    goesOn(1),
    answers(2),
    stops(2),
    over('completed'),
  ];

  /** A call whose arguments are not valid does not start. */
  const refusal = (name: string): readonly string[] =>
    recovery(name).map((part) => part.replace(` +started ${name}`, ''));

  const blocked = [
    begins,
    asks(1),
    'beforeToolUse add +blocked add afterToolUse add',
    goesOn(1),
    answers(2),
    stops(2),
    over('completed'),
  ];

  const rows: readonly Row[] = [
    {
      name: 'a tool that throws, and a model that recovers',
      script: [call('fails'), 'Sorry.'],
      tools: [fails],
      trace: recovery('fails'),
      ...recovers,
      errors: ['no luck'],
      results: ['no luck'],
    },
    {
      name: 'a tool that throws a value that is not an Error',
      tools: [does('fails', () => Promise.reject({ odd: true }))],
      script: [call('fails'), 'Sorry.'],
      trace: recovery('fails'),
      ...recovers,
      errors: ['TOOL_FAILED'],
    },
    {
      name: 'a tool that throws, with toolErrors "fail"',
      script: [call('fails')],
      tools: [fails],
      toolErrors: 'fail',
      trace: [
        begins,
        asks(1),
        uses('fails', 'failed'),
        '+signal errorForbade',
        stops(1),
        forced,
        over('failed'),
      ],
      end: 'failed errorForbade',
      steps: 'error',
      roles: 'uat',
      errors: ['no luck'],
    },
    {
      name: 'an unknown tool',
      script: [call('nobody'), 'Sorry.'],
      tools: [add],
      trace: recovery('nobody'),
      ...recovers,
      errors: ['TOOL_NOT_FOUND'],
      results: ['Unknown tool "nobody". Known tools: add.'],
    },
    {
      name: 'arguments that a JSON Schema refuses',
      script: [input('strict', { a: 'x' }), 'Sorry.'],
      tools: [strict],
      trace: refusal('strict'),
      ...recovers,
      errors: ['TOOL_ARGUMENTS_INVALID'],
      results: ['The arguments of tool "strict" are not valid: a: expected number, found string "x".'],
    },
    {
      name: 'arguments that a Standard Schema refuses',
      script: [input('zodded', { a: 1, deep: { b: 2 } }), 'Sorry.'],
      tools: [zodded],
      trace: refusal('zodded'),
      ...recovers,
      errors: ['TOOL_ARGUMENTS_INVALID'],
      results: [
        'The arguments of tool "zodded" are not valid: deep.b: Invalid input: expected string, received number.',
      ],
    },
    {
      name: 'arguments that were no JSON',
      script: [input('strict', '{"a":', { invalid: 'Unexpected end of JSON input' }), 'Sorry.'],
      tools: [strict],
      trace: refusal('strict'),
      ...recovers,
      errors: ['TOOL_ARGUMENTS_INVALID'],
      results: ['The arguments of tool "strict" are not valid: Unexpected end of JSON input.'],
    },
    {
      name: 'a value that is not JSON',
      script: [call('big'), 'Sorry.'],
      tools: [does('big', () => 1n)],
      trace: recovery('big'),
      ...recovers,
      errors: ['NOT_JSON'],
    },
    {
      name: 'an invalid model output',
      script: [call('odd'), 'Sorry.'],
      tools: [odd],
      trace: recovery('odd'),
      ...recovers,
      errors: ['CONTEXT_INVALID'],
    },
    {
      name: 'a call that a hook blocks',
      script: [call('add'), 'Sorry.'],
      tools: [add],
      hooks: [{ beforeToolUse: () => ({ block: 'not on Sundays' }) }],
      trace: blocked,
      ...recovers,
      errors: ['TOOL_BLOCKED'],
      results: ['not on Sundays'],
      also: (state) => {
        expect(state.errors[0]?.name).toBe('ToolExecutionBlockedError');
        expect(state.steps[0]?.executedToolCalls).toEqual([]);
        expect(state.steps[0]?.requestedToolCalls).toHaveLength(1);
        expect(state.lastToolExecution?.wasBlocked).toBe(true);
      },
    },
    {
      name: 'a blocked call does not fail a run with toolErrors "fail"',
      script: [call('add'), 'Sorry.'],
      tools: [add],
      toolErrors: 'fail',
      hooks: [{ beforeToolUse: () => ({ block: '' }) }],
      trace: blocked,
      ...recovers,
      errors: ['TOOL_BLOCKED'],
      results: ['Tool "add" is blocked.'],
    },
  ];
  test.each(rows)('$name', runRow);
});

describe('drivers that fail', () => {
  const cut = (finishReason: InferenceResponseInit['finishReason']): InferenceResponseInit => ({
    content: [
      { type: 'text', text: 'Let me' },
      { type: 'tool-call', toolCallId: 'call', toolName: 'add', input: {} },
    ],
    ...(finishReason && { finishReason }),
  });
  const partial = Object.assign(new Error('cut off'), {
    partialResponse: InferenceResponse.of({
      text: 'Half an ans',
      usage: { inputTokens: 7, outputTokens: 3 },
    }),
  });
  const failed = { end: 'failed', steps: 'error', roles: 'u' };

  const rows: readonly Row[] = [
    {
      name: 'a driver that throws at the first step',
      script: [new HoldfastError('DRIVER_FAILED', 'down')],
      trace: [begins, infers(1), 'onError', breaksOff(1), over('failed')],
      ...failed,
      errors: ['DRIVER_FAILED'],
    },
    {
      name: 'a driver that throws at the second step',
      script: [call('add'), new Error('down')],
      tools: [add],
      trace: [begins, asks(1), uses('add'), goesOn(1), infers(2), 'onError', breaksOff(2), over('failed')],
      end: 'failed',
      steps: 'toolExecution error',
      roles: 'uat',
      errors: ['down'],
    },
    {
      name: 'a driver whose response ended with an error',
      script: [cut('error'), cut('error')],
      tools: [add],
      trace: [
        begins,
        infers(1),
        '+inference-failed +step-restarted beforeInference +infer',
        '+answer error onError',
        breaksOff(1),
        over('failed'),
      ],
      ...failed,
      errors: ['DRIVER_BROKEN_ANSWER'],
    },
    ...(['length', 'content-filter'] as const).map((reason): Row => ({
      name: `an answer cut short by ${reason}: its calls are answered, not run`,
      script: [cut(reason), 'In short.'],
      tools: [add],
      trace: [begins, answers(1, reason), goesOn(1), answers(2), stops(2), over('completed')],
      end: 'completed',
      steps: 'toolExecution finalResponse',
      roles: 'uata',
      results: [expect.stringContaining(reason === 'length' ? 'output limit' : reason)],
    })),
    {
      name: 'a response with a finish reason of the provider: its calls have results and do not run',
      script: [{ ...cut('other'), rawFinishReason: 'eos' }, 'In short.'],
      tools: [add],
      trace: [begins, answers(1, 'other'), goesOn(1), answers(2), stops(2), over('completed')],
      end: 'completed',
      steps: 'toolExecution finalResponse',
      roles: 'uata',
      results: ['Not run: the answer ended for the reason "eos".'],
    },
    {
      name: 'a response without a finish reason: it is partial, and its calls do not run',
      script: [cut('other')],
      inferenceRetry: { maxElapsedSeconds: 0 },
      tools: [add],
      trace: [begins, infers(1), '+answer error onError', breaksOff(1), over('failed')],
      ...failed,
      errors: ['DRIVER_NETWORK'],
    },
    {
      name: 'a driver that throws during a response: the partial response is in the step, not in the conversation',
      script: [partial],
      trace: [begins, infers(1), '+answer error onError', breaksOff(1), over('failed')],
      ...failed,
      errors: ['cut off'],
      also: (state) => {
        expect(state.lastStep?.text).toBe('Half an ans');
        expect(state.usage.totalTokens).toBe(10);
      },
    },
  ];
  test.each(rows)('$name', runRow);

  const nonsense = [undefined, null, { content: 5 }, { content: [{ type: 'nonsense' }] }];
  test.each(nonsense)('a driver that returns %j', async (answer) => {
    const { state, trace } = await observe({ driver: driverOf(async () => answer as never) });
    expect(trace.join(' ')).toBe([begins, infers(1), 'onError', breaksOff(1), over('failed')].join(' '));
    expect(state.errors.map(({ code }) => code)).toEqual(['INFERENCE_INVALID']);
  });

  const misfits = [
    { finishReason: 'banana' },
    { usage: { tokens: 1 } },
    { modelId: 5 },
    { rawFinishReason: {} },
  ];
  test.each(misfits)('a driver that returns %j', async (answer) => {
    const { state } = await observe({ driver: driverOf(async () => ({ text: 'Hm', ...answer }) as never) });
    expect(state.errors.map(({ code }) => code)).toEqual(['INFERENCE_INVALID']);
  });

  test('a driver that throws before it returns a promise', async () => {
    const infer = (): never => {
      throw new Error('at once');
    };
    const { state } = await observe({ driver: driverOf(infer) });
    expect(state.errors.map(({ message }) => message)).toEqual(['at once']);
  });

  test('a partial response that is plain data with calls: none of it runs or is shown', async () => {
    const cutOff = Object.assign(new Error('cut off'), { partialResponse: cut('tool-calls') });
    const { state, trace } = await observe({ script: [cutOff], tools: [add] });
    expect(trace.join(' ')).toBe(
      [begins, infers(1), '+answer error onError', breaksOff(1), over('failed')].join(' '),
    );
    expect([state.lastStep?.text, state.messages.length]).toEqual(['Let me', 1]);
  });
});

describe('a hook that throws', () => {
  const boom: Hook = Object.fromEntries(
    POINTS.map((point) => [
      point,
      () => {
        throw new Error('boom');
      },
    ]),
  );
  const only = (point: HookPoint): readonly Hook[] => [{ name: 'bad', [point]: boom[point] }];
  const failed = { script: [call('add')], tools: [add], end: 'failed', errors: ['HOOK_FAILED'] };
  const toolStep = [begins, asks(1), starts('add'), ends('add')];

  const rows: readonly Row[] = [
    {
      ...failed,
      name: 'in beforeExecution',
      hooks: only('beforeExecution'),
      script: [],
      trace: [begins, 'onError', over('failed')],
      steps: '',
      roles: 'u',
    },
    {
      ...failed,
      name: 'in beforeStep',
      hooks: only('beforeStep'),
      script: [],
      trace: [begins, 'beforeStep onError', over('failed')],
      steps: '',
      roles: 'u',
    },
    {
      ...failed,
      name: 'in beforeInference',
      hooks: only('beforeInference'),
      script: [],
      trace: [begins, 'beforeStep +step 1 beforeInference onError', breaksOff(1), over('failed')],
      steps: 'error',
      roles: 'u',
    },
    {
      ...failed,
      name: 'in afterInference: the response is recorded',
      hooks: only('afterInference'),
      trace: [begins, asks(1), 'onError', breaksOff(1), over('failed')],
      steps: 'error',
      roles: 'uat',
      results: ['Not run: the execution stopped.'],
      also: (state) => expect(state.usage.totalTokens).toBe(15),
    },
    {
      ...failed,
      name: 'in beforeToolUse: the call is not run',
      hooks: only('beforeToolUse'),
      trace: [begins, asks(1), 'beforeToolUse add onError', breaksOff(1), over('failed')],
      steps: 'error',
      roles: 'uat',
      results: ['Not run: the execution stopped.'],
    },
    {
      ...failed,
      name: 'in afterToolUse: the result is recorded',
      hooks: only('afterToolUse'),
      trace: [...toolStep, 'onError', breaksOff(1), over('failed')],
      steps: 'error',
      roles: 'uat',
      results: ['4'],
    },
    {
      ...failed,
      name: 'in afterStep',
      hooks: only('afterStep'),
      trace: [...toolStep, 'afterStep onError', breaksOff(1), over('failed')],
      steps: 'error',
      roles: 'uat',
      results: ['4'],
    },
    {
      ...failed,
      name: 'in onStop',
      hooks: only('onStop'),
      budget: { maxSteps: 0 },
      script: [],
      trace: [begins, '+signal stepsLimitReached beforeStep onStop onError', over('failed')],
      end: 'failed stepsLimitReached',
      steps: '',
      roles: 'u',
    },
    {
      ...failed,
      name: 'in afterExecution',
      hooks: only('afterExecution'),
      script: ['Hi.'],
      trace: [begins, answers(1), stops(1), 'afterExecution onError +failed'],
      steps: 'finalResponse',
      roles: 'ua',
    },
    {
      ...failed,
      name: 'in onError: both errors are there',
      hooks: only('onError'),
      script: [new Error('down')],
      trace: [begins, infers(1), 'onError', breaksOff(1), over('failed')],
      steps: 'error',
      roles: 'u',
      errors: ['down', 'HOOK_FAILED'],
    },
    {
      ...failed,
      name: 'in onError, after an error in afterExecution',
      hooks: [...only('onError'), ...only('afterExecution')],
      script: ['Hi.'],
      trace: [begins, answers(1), stops(1), 'afterExecution onError +failed'],
      steps: 'finalResponse',
      roles: 'ua',
      errors: ['HOOK_FAILED', 'HOOK_FAILED'],
    },
    {
      ...failed,
      name: 'twice in one step: both errors and every result are recorded',
      script: [call('a', 'b')],
      tools: [a, b],
      hooks: only('afterToolUse'),
      trace: [
        begins,
        asks(1),
        starts('a'),
        starts('b'),
        ends('a'),
        'onError',
        ends('b'),
        'onError',
        breaksOff(1),
        over('failed'),
      ],
      steps: 'error',
      roles: 'uat',
      errors: ['HOOK_FAILED', 'HOOK_FAILED'],
      results: ['a', 'b'],
    },
  ];
  test.each(rows)('$name', runRow);

  test('an error names the hook, the point and the cause', async () => {
    const { state } = await observe({ hooks: only('beforeStep') });
    expect(state.errors).toMatchObject([
      { code: 'HOOK_FAILED', message: 'Hook "bad" failed in beforeStep: boom', cause: { message: 'boom' } },
    ]);
  });

  test('the other afterExecution and onStop hooks are still called', async () => {
    const called: string[] = [];
    const late: Hook = {
      onStop: () => void called.push('onStop'),
      afterExecution: () => void called.push('after'),
    };
    await observe({ budget: { maxSteps: 0 }, hooks: [...only('onStop'), ...only('afterExecution'), late] });
    expect(called).toEqual(['onStop', 'after']);
  });
});

describe('AgentStop', () => {
  const stop = (): never => {
    throw new AgentStop({ reason: 'costLimitReached', message: 'too dear', source: 'me' });
  };
  const only = (point: HookPoint): readonly Hook[] => [{ [point]: stop }];
  const stopped = { script: [call('add')], tools: [add], end: 'stopped costLimitReached' };
  const signal = '+signal costLimitReached';

  const rows: readonly Row[] = [
    {
      ...stopped,
      name: 'in beforeExecution',
      hooks: only('beforeExecution'),
      script: [],
      trace: [begins, signal, forced, over('stopped')],
      steps: '',
      roles: 'u',
    },
    {
      ...stopped,
      name: 'in beforeStep',
      hooks: only('beforeStep'),
      script: [],
      trace: [begins, 'beforeStep', signal, forced, over('stopped')],
      steps: '',
      roles: 'u',
    },
    {
      ...stopped,
      name: 'in beforeInference: no model is called',
      hooks: only('beforeInference'),
      script: [],
      trace: [begins, 'beforeStep +step 1 beforeInference', signal, breaksOff(1), forced, over('stopped')],
      steps: 'finalResponse',
      roles: 'u',
    },
    {
      ...stopped,
      name: 'in afterInference: the response is recorded',
      hooks: only('afterInference'),
      trace: [begins, asks(1), signal, breaksOff(1), forced, over('stopped')],
      steps: 'toolExecution',
      roles: 'uat',
      also: (state) => expect(state.usage.totalTokens).toBe(15),
    },
    {
      ...stopped,
      name: 'in beforeToolUse',
      hooks: only('beforeToolUse'),
      trace: [begins, asks(1), 'beforeToolUse add', signal, breaksOff(1), forced, over('stopped')],
      steps: 'toolExecution',
      roles: 'uat',
      results: ['Not run: the execution stopped.'],
    },
    {
      ...stopped,
      name: 'in afterToolUse',
      hooks: only('afterToolUse'),
      trace: [begins, asks(1), uses('add'), signal, breaksOff(1), forced, over('stopped')],
      steps: 'toolExecution',
      roles: 'uat',
      results: ['4'],
    },
    {
      ...stopped,
      name: 'in afterStep',
      hooks: only('afterStep'),
      trace: [begins, asks(1), uses('add'), 'afterStep', signal, breaksOff(1), forced, over('stopped')],
      steps: 'toolExecution',
      roles: 'uat',
    },
    {
      ...stopped,
      name: 'in onStop',
      hooks: only('onStop'),
      budget: { maxSteps: 0 },
      script: [],
      trace: [begins, '+signal stepsLimitReached beforeStep', forced, signal, over('stopped')],
      end: 'stopped stepsLimitReached',
      steps: '',
      roles: 'u',
    },
    {
      ...stopped,
      name: 'in afterExecution',
      hooks: only('afterExecution'),
      script: ['Hi.'],
      trace: [begins, answers(1), stops(1), `afterExecution ${signal} +stopped`],
      steps: 'finalResponse',
      roles: 'ua',
    },
    {
      ...stopped,
      name: 'in onError: the error still fails the run, the reason is there',
      hooks: only('onError'),
      script: [new Error('down')],
      trace: [begins, infers(1), 'onError', signal, breaksOff(1), forced, over('failed')],
      end: 'failed costLimitReached',
      steps: 'error',
      roles: 'u',
      errors: ['down'],
    },
    {
      ...stopped,
      name: 'in a tool',
      script: [call('stopping')],
      tools: [stopping],
      trace: [begins, asks(1), uses('stopping'), signal, stops(1), forced, over('stopped')],
      steps: 'toolExecution',
      roles: 'uat',
    },
    {
      ...stopped,
      name: 'in the second of three tools at once: those that run may end',
      script: [call('a', 'stopping', 'c')],
      tools: [a, stopping, c],
      trace: [
        begins,
        asks(1),
        starts('a'),
        starts('stopping'),
        starts('c'),
        ends('a'),
        ends('stopping'),
        signal,
        ends('c'),
        stops(1),
        forced,
        over('stopped'),
      ],
      steps: 'toolExecution',
      roles: 'uat',
      results: ['a', '{"stop":{"reason":"costLimitReached","message":"too dear"}}', 'c'],
    },
    {
      ...stopped,
      name: 'in the second of three tools one at a time: the third does not run',
      script: [call('a', 'stopping', 'c')],
      tools: [a, stopping, c],
      maxParallelTools: 1,
      trace: [begins, asks(1), uses('a'), uses('stopping'), signal, stops(1), forced, over('stopped')],
      steps: 'toolExecution',
      roles: 'uat',
      results: [
        'a',
        '{"stop":{"reason":"costLimitReached","message":"too dear"}}',
        'Not run: the execution stopped.',
      ],
      also: (state) => {
        expect(state.usage.totalTokens).toBe(15);
        expect(state.stopSignal).toEqual({ reason: 'costLimitReached', message: 'too dear' });
        expect(state.execution?.continuation.wasForceStopped).toBe(true);
        expect(state.hasFinalResponse).toBe(false);
      },
    },
    {
      name: 'with a text only means stopRequested',
      script: [],
      hooks: [
        {
          beforeStep: () => {
            throw new AgentStop('enough');
          },
        },
      ],
      trace: [begins, 'beforeStep +signal stopRequested', forced, over('stopped')],
      end: 'stopped stopRequested',
      steps: '',
      roles: 'u',
    },
    {
      name: 'with a reason that is not a forced stop, the execution ends completed',
      script: [call('add')],
      tools: [
        does('add', () => {
          throw new AgentStop({ reason: 'completed', message: 'all done' });
        }),
      ],
      trace: [begins, asks(1), uses('add'), '+signal completed', stops(1), over('completed')],
      end: 'completed completed',
      steps: 'toolExecution',
      roles: 'uat',
    },
    {
      name: 'beside an error of a hook in the same step: both are recorded',
      script: [call('a', 'b')],
      tools: [a, b],
      hooks: [
        {
          afterToolUse: ({ name }) => {
            if (name === 'a') stop();
            throw new Error('boom');
          },
        },
      ],
      trace: [
        begins,
        asks(1),
        starts('a'),
        starts('b'),
        ends('a'),
        signal,
        ends('b'),
        'onError',
        breaksOff(1),
        forced,
        over('failed'),
      ],
      end: 'failed costLimitReached',
      steps: 'error',
      roles: 'uat',
      errors: ['HOOK_FAILED'],
    },
  ];
  test.each(rows)('$name', runRow);
});

describe('the result of a hook is used', () => {
  const mark =
    (name: string): ((state: AgentState) => AgentState) =>
    (state) =>
      state.withMetadata('marks', [...(state.metadata.get<string[]>('marks') ?? []), name]);
  const marks = (state: AgentState): unknown => state.metadata.get('marks');

  test('a state, from every point', async () => {
    const hook: Hook = {
      beforeExecution: mark('beforeExecution'),
      beforeStep: mark('beforeStep'),
      beforeInference: (_, { state }) => ({ state: mark('beforeInference')(state) }),
      afterInference: (_, { state }) => ({ state: mark('afterInference')(state) }),
      beforeToolUse: (_, { state }) => ({ state: mark('beforeToolUse')(state) }),
      afterToolUse: (_, { state }) => ({ state: mark('afterToolUse')(state) }),
      afterStep: mark('afterStep'),
      onStop: mark('onStop'),
      afterExecution: mark('afterExecution'),
      onError: (_, { state }) => mark('onError')(state),
    };
    const { state } = await observe({
      script: [call('a', 'b'), new AgentStop('x')],
      tools: [a, b],
      hooks: [hook],
    });
    expect(marks(state)).toEqual([
      'beforeExecution',
      'beforeStep',
      'beforeInference',
      'afterInference',
      'beforeToolUse',
      'beforeToolUse',
      'afterToolUse',
      'afterToolUse',
      'afterStep',
      'beforeStep',
      'beforeInference',
      'onStop',
      'afterExecution',
    ]);
  });

  test('of onError too', async () => {
    const { state } = await observe({
      script: [new Error('down')],
      hooks: [{ onError: (_, { state: now }) => mark('onError')(now) }],
    });
    expect(marks(state)).toEqual(['onError']);
  });

  test('a request', async () => {
    const hook: Hook = {
      beforeInference: (request) => ({ request: { ...request, systemPrompt: 'Be brief.' } }),
    };
    const { driver } = await observe({ script: ['Hi.'], hooks: [hook] });
    expect(driver.requests[0]?.systemPrompt).toBe('Be brief.');
  });

  test('messages of a request, repaired', async () => {
    const asked = assistantMessage([{ type: 'tool-call', toolCallId: 'lost', toolName: 'add', input: {} }]);
    const hook: Hook = {
      beforeInference: (request) => ({ request: { ...request, messages: request.messages.append(asked) } }),
    };
    const { driver, state } = await observe({ script: ['Hi.'], hooks: [hook] });
    const shown = driver.requests[0]?.messages;
    expect(shown?.toArray().map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(state.lastStep?.input).toBe(shown);
  });

  test('a response', async () => {
    const hook: Hook = { afterInference: () => ({ response: InferenceResponse.of({ text: 'Else.' }) }) };
    const { state } = await observe({ script: ['Hi.'], hooks: [hook] });
    expect(state.finalResponse).toBe('Else.');
  });

  test('a call', async () => {
    const seen: unknown[] = [];
    const echo = does('echo', (args) => void seen.push(args));
    const hook: Hook = { beforeToolUse: (asked) => ({ call: { ...asked, input: { changed: [true] } } }) };
    const { state } = await observe({ script: [call('echo'), 'Done.'], tools: [echo], hooks: [hook] });
    expect(seen).toEqual([{ changed: [true] }]);
    expect(state.steps[0]?.toolExecutions[0]?.args).toEqual({ changed: [true] });
  });

  test('an execution', async () => {
    const hook: Hook = {
      afterToolUse: (done) => ({ toolExecution: done.withOutcome({ type: 'succeeded', value: 5 }, 2_000) }),
    };
    const { state } = await observe({ script: [call('add'), 'Done.'], tools: [add], hooks: [hook] });
    expect(resultsOf(state)).toEqual(['5']);
  });

  test('a failure that a hook made of a success fails the run with toolErrors "fail"', async () => {
    const error = { name: 'Error', message: 'not good enough' };
    const hook: Hook = {
      afterToolUse: (done) => ({ toolExecution: done.withOutcome({ type: 'failed', error }, 2_000) }),
    };
    const { state } = await observe({
      script: [call('add')],
      tools: [add],
      hooks: [hook],
      toolErrors: 'fail',
    });
    expect([state.status, state.stopReason]).toEqual(['failed', 'errorForbade']);
  });

  test('a stop signal takes effect at once, before further cost', async () => {
    const stop = (state: AgentState): AgentState =>
      state.withStopSignal({ reason: 'stopRequested', message: 'x' });
    const before = await observe({
      hooks: [{ beforeInference: (_, { state }) => ({ state: stop(state) }) }],
    });
    expect([before.driver.requests.length, before.state.status]).toEqual([0, 'stopped']);
    const ran: string[] = [];
    const hook: Hook = { beforeToolUse: (_, { state }) => ({ state: stop(state) }) };
    const { state } = await observe({
      script: [call('x')],
      tools: [does('x', () => ran.push('x'))],
      hooks: [hook],
    });
    expect([ran, state.status, resultsOf(state)]).toEqual([
      [],
      'stopped',
      ['Not run: the execution stopped.'],
    ]);
  });

  test('hooks run by priority first, then in the order of registration', async () => {
    const hooks = [mark('a'), mark('b'), mark('c'), mark('d')].map((beforeStep, index): Hook => {
      return { beforeStep, priority: index === 2 ? 5 : index === 0 ? -1 : 0 };
    });
    const { state } = await observe({ script: ['Hi.'], hooks });
    expect(marks(state)).toEqual(['c', 'b', 'd', 'a']);
  });

  test('the methods of a class are called with their this', async () => {
    class Counter implements Hook {
      count = 0;
      beforeStep(): void {
        this.count++;
      }
    }
    const counter = new Counter();
    await observe({ script: [call('add'), 'Hi.'], tools: [add], hooks: [counter] });
    expect(counter.count).toBe(2);
  });
});

describe('invalid results of a hook are refused', () => {
  const garbage: readonly (readonly [HookPoint, unknown])[] = [
    ...(['beforeExecution', 'beforeStep', 'afterStep', 'afterExecution'] as const).flatMap((point) =>
      [5, 'x', true, {}, [], { state: 5 }].map((value) => [point, value] as const),
    ),
    ...(['beforeInference', 'afterInference', 'beforeToolUse', 'afterToolUse'] as const).flatMap((point) =>
      [5, 'x', true, { state: 5 }, { state: {} }].map((value) => [point, value] as const),
    ),
    ['beforeInference', { request: 5 }],
    ['beforeInference', { request: {} }],
    ['afterInference', { response: 5 }],
    ['afterInference', { response: { text: 'plain' } }],
    ['beforeToolUse', { call: 5 }],
    ['beforeToolUse', { call: { type: 'tool-call', toolCallId: 'other', toolName: 'add', input: {} } }],
    ['beforeToolUse', { call: { type: 'tool-call', toolCallId: 'call_1_1', toolName: 'add', input: 1n } }],
    ['beforeToolUse', { block: 5 }],
    ['afterToolUse', { toolExecution: 5 }],
    ['afterToolUse', { toolExecution: {} }],
  ];
  test.each(garbage)('%s: %o', async (point, value) => {
    const { state } = await observe({
      script: [call('add'), 'Hi.'],
      tools: [add],
      hooks: [{ name: 'odd', [point]: () => value }],
    });
    expect(state.status).toBe('failed');
    expect(state.errors[0]).toMatchObject({ code: 'HOOK_FAILED' });
    expect(state.errors[0]?.message).toContain(`Hook "odd" returned`);
    expect(state.errors[0]?.message).toContain(point);
  });

  test.each(['beforeInference', 'afterInference', 'beforeToolUse', 'afterToolUse'] as const)(
    'a bare state from %s, which would be dropped',
    async (point) => {
      const hook = {
        [point]: (_: unknown, { state }: { readonly state: AgentState }) => state.withMetadata('a', 1),
      };
      const { state } = await observe({ script: [call('add'), 'Hi.'], tools: [add], hooks: [hook] });
      expect(state.errors[0]).toMatchObject({ code: 'HOOK_FAILED' });
    },
  );

  test.each(['onStop', 'onError'] as const)('a number from %s', async (point) => {
    const { state } = await observe({
      script: [new Error('down')],
      budget: { maxSteps: point === 'onStop' ? 0 : 1 },
      hooks: [{ [point]: () => 5 as never }],
    });
    expect(state.errors.at(-1)).toMatchObject({ code: 'HOOK_FAILED' });
  });

  const others: readonly (readonly [string, (state: AgentState) => AgentState])[] = [
    ['of another agent', () => told()],
    ['without an execution', (state) => state.forNextExecution()],
  ];
  test.each(others)('a state %s', async (_, other) => {
    const { state } = await observe({ script: ['Hi.'], hooks: [{ beforeStep: other }] });
    expect([state.status, state.errors[0]?.code]).toEqual(['failed', 'HOOK_FAILED']);
  });

  test('an earlier state, without a tool execution that has run', async () => {
    let earlier: AgentState | undefined;
    const hook: Hook = {
      beforeToolUse: (_, { state }) => void (earlier ??= state),
      afterToolUse: () => (earlier === undefined ? undefined : { state: earlier.withMetadata('a', 1) }),
    };
    const { state } = await observe({ script: [call('a', 'b'), 'Hi.'], tools: [a, b], hooks: [hook] });
    expect([state.status, state.errors[0]?.code]).toEqual(['failed', 'HOOK_FAILED']);
    expect(resultsOf(state)).toEqual(['a', 'b']);
  });

  test('an unfinished state from afterExecution', async () => {
    let earlier: AgentState | undefined;
    const hook: Hook = {
      afterStep: (state) => void (earlier = state),
      afterExecution: () => earlier,
    };
    const { state } = await observe({ script: ['Hi.'], hooks: [hook] });
    expect([state.status, state.errors[0]?.code]).toEqual(['failed', 'HOOK_FAILED']);
  });
});

describe('a listener that throws', () => {
  const expected = [begins, asks(1), uses('add'), goesOn(1), answers(2), stops(2), over('completed')].join(
    ' ',
  );
  const listeners = {
    'at once': () => {
      throw new Error('deaf');
    },
    later: () => Promise.reject(new Error('deaf')) as unknown as void,
  };
  test.each(Object.entries(listeners))('%s does not affect the run', async (_, listener) => {
    const { trace, state } = await observe({
      script: [call('add'), 'It is 4.'],
      tools: [add],
      listeners: [listener],
      run: { onEvent: listener },
    });
    expect(trace.join(' ')).toBe(expected);
    expect([state.status, state.hasErrors]).toEqual(['completed', false]);
  });
});

describe('stop or continue', () => {
  const again = (times: number): Hook => {
    let left = times;
    return { afterStep: (state) => (left-- > 0 ? state.withContinuationRequested() : undefined) };
  };
  const rows: readonly Row[] = [
    {
      name: 'a step limit stops before a step beyond it is paid for',
      script: [call('add')],
      tools: [add],
      budget: { maxSteps: 1 },
      trace: [
        begins,
        asks(1),
        uses('add'),
        goesOn(1),
        '+signal stepsLimitReached beforeStep',
        forced,
        over('stopped'),
      ],
      end: 'stopped stepsLimitReached',
      steps: 'toolExecution',
      roles: 'uat',
    },
    {
      name: 'a response at the limit is a final response',
      script: [call('add'), 'It is 4.'],
      tools: [add],
      budget: { maxSteps: 2 },
      trace: [begins, asks(1), uses('add'), goesOn(1), answers(2), stops(2), over('completed')],
      end: 'completed',
      steps: 'toolExecution finalResponse',
      roles: 'uata',
    },
    {
      name: 'another step requested in afterStep',
      script: ['One.', 'Two.'],
      hooks: [again(1)],
      trace: [begins, answers(1), goesOn(1), answers(2), stops(2), over('completed')],
      end: 'completed',
      steps: 'finalResponse finalResponse',
      roles: 'uaa',
    },
    {
      name: 'another step requested after a stop signal, which is final',
      script: ['One.'],
      hooks: [
        {
          afterStep: (state) =>
            state.withStopSignal({ reason: 'stopRequested', message: 'x' }).withContinuationRequested(),
        },
      ],
      trace: [
        begins,
        infers(1),
        'afterInference +answer stop afterStep +signal stopRequested +step-done 1 +stop',
        forced,
        over('stopped'),
      ],
      end: 'stopped stopRequested',
      steps: 'finalResponse',
      roles: 'ua',
    },
    {
      name: 'a finish reason is not a forced stop',
      script: [call('add')],
      tools: [add],
      hooks: [
        { afterStep: (state) => state.withStopSignal({ reason: 'finishReasonReceived', message: 'x' }) },
      ],
      trace: [
        begins,
        asks(1),
        uses('add'),
        'afterStep +signal finishReasonReceived +step-done 1 +stop',
        over('completed'),
      ],
      end: 'completed finishReasonReceived',
      steps: 'toolExecution',
      roles: 'uat',
    },
    {
      name: 'the signal with the lowest rank wins, the first among equals; all are recorded',
      script: ['Hi.'],
      hooks: [
        {
          afterStep: (state) =>
            (['userRequested', 'timeLimitReached', 'costLimitReached', 'unknown'] as const).reduce(
              (before, reason) => before.withStopSignal({ reason, message: reason }),
              state,
            ),
        },
      ],
      trace: [
        begins,
        infers(1),
        'afterInference +answer stop afterStep +signal userRequested +signal timeLimitReached',
        '+signal costLimitReached +signal unknown +step-done 1 +stop',
        forced,
        over('stopped'),
      ],
      end: 'stopped timeLimitReached',
      steps: 'finalResponse',
      roles: 'ua',
      also: (state) => expect(state.execution?.continuation.signals).toHaveLength(4),
    },
    {
      name: 'an error after a final response fails a run',
      script: ['Hi.'],
      hooks: [{ afterStep: (state) => state.withError(new Error('not good')) }],
      trace: [begins, answers(1), stops(1), over('failed')],
      end: 'failed',
      steps: 'error',
      roles: 'ua',
      errors: ['not good'],
    },
    {
      name: 'a hook that ends the execution itself: AfterExecution hooks still run',
      script: [],
      hooks: [{ beforeStep: (state) => state.withFailure(new Error('no')) }],
      trace: [begins, 'beforeStep', '+failed', 'afterExecution'],
      end: 'failed',
      steps: '',
      roles: 'u',
      errors: ['no'],
    },
  ];
  test.each(rows)('$name', runRow);

  test('20 steps are the default limit', async () => {
    const script = Array.from({ length: 20 }, () => call('add'));
    const state = expectSound(await scriptedLoop(script, { tools: [add] }).run(told()));
    expect([state.stepCount, state.stopReason]).toEqual([20, 'stepsLimitReached']);
  });

  test('Infinity is no limit', async () => {
    const script = [...Array.from({ length: 30 }, () => call('add')), 'Done.'];
    const state = expectSound(
      await scriptedLoop(script, { tools: [add], budget: { maxSteps: Infinity } }).run(told()),
    );
    expect([state.stepCount, state.status]).toEqual([31, 'completed']);
  });
});

describe('time limits that expire', () => {
  const start = 50_000_000;
  const over10 = '+signal timeLimitReached';

  /** A deadline in 10 seconds, and what takes these. */
  function late(): { readonly clock: ManualClock; readonly budget: BudgetLimits; readonly pass: () => void } {
    const clock = manualClock(start);
    return { clock, budget: { deadline: start + 10_000 }, pass: () => clock.advance(10_000) };
  }

  function inInference(): Row {
    const { clock, budget, pass } = late();
    const rejects: ScriptedAnswer = (_, { signal }) => {
      pass();
      return Promise.reject(signal.reason as Error);
    };
    return {
      name: 'in an inference',
      clock,
      budget,
      script: [rejects],
      trace: [begins, infers(1), over10, 'afterInference +answer aborted', stops(1), forced, over('stopped')],
      end: 'stopped timeLimitReached',
      steps: 'finalResponse',
      roles: 'u',
      also: (state) => {
        expect(state.stopSignal).toEqual({
          reason: 'timeLimitReached',
          message: 'The deadline, 1970-01-01T13:53:30.000Z, has passed.',
          context: { deadline: start + 10_000 },
          source: 'deadline',
        });
        expect([state.hasFinalResponse, state.usage.isComplete]).toEqual([false, false]);
      },
    };
  }

  function inTools(): Row {
    const { clock, budget, pass } = late();
    return {
      name: 'in the second of three tools, one at a time',
      clock,
      budget,
      script: [call('a', 'b', 'c')],
      tools: [a, does('b', () => (pass(), new Promise(() => {}))), c],
      maxParallelTools: 1,
      trace: [
        begins,
        asks(1),
        uses('a'),
        starts('b'),
        ends('b', 'interrupted'),
        over10,
        stops(1),
        forced,
        over('stopped'),
      ],
      end: 'stopped timeLimitReached',
      steps: 'error',
      roles: 'uat',
      errors: ['TOOL_INTERRUPTED'],
      results: [
        'a',
        'Tool "b" was started and interrupted: whether it had its effect is unknown.',
        'Not run: the execution stopped.',
      ],
    };
  }

  test.each([inInference(), inTools()])('$name', runRow);
});

describe('an execution that is resumed', async () => {
  const whole = await observe({ script: [call('add'), 'It is 4.'], tools: [add] });

  /** A run of a tool and an answer, as it stood when something happened for the first time. */
  function at(type: AgentEventType): { readonly name: string; readonly state: AgentState } {
    const event = whole.events.find((found) => found.type === type);
    const state = AgentState.fromJSON(JSON.parse(JSON.stringify(event?.state)));
    return { name: `after its first ${type}`, state };
  }
  const resumes = '+resumed beforeExecution';
  const finishes = { end: 'completed', roles: 'uata', tools: [add] };
  const interrupted = 'Tool "add" was started and interrupted: whether it had its effect is unknown.';
  const rows: readonly Row[] = [
    {
      ...at('step-started'),
      script: [call('add'), 'It is 4.'],
      trace: [
        resumes,
        'beforeInference +infer afterInference +answer tool-calls',
        uses('add'),
        goesOn(1),
        answers(2),
        stops(2),
        over('completed'),
      ],
      steps: 'toolExecution finalResponse',
      results: ['4'],
      ...finishes,
    },
    {
      ...at('inference-completed'),
      script: ['It is 4.'],
      trace: [resumes, uses('add'), goesOn(1), answers(2), stops(2), over('completed')],
      steps: 'toolExecution finalResponse',
      results: ['4'],
      ...finishes,
    },
    {
      ...at('tool-started'),
      script: ['It is 4.'],
      trace: [resumes, ends('add', 'interrupted'), goesOn(1), answers(2), stops(2), over('completed')],
      steps: 'error finalResponse',
      errors: ['TOOL_INTERRUPTED'],
      results: [interrupted],
      ...finishes,
    },
    {
      ...at('step-completed'),
      script: ['It is 4.'],
      trace: [resumes, answers(2), stops(2), over('completed')],
      steps: 'toolExecution finalResponse',
      results: ['4'],
      ...finishes,
    },
  ];
  test.each(rows)('$name', runRow);
});

describe('invalid options are refused', () => {
  const driver = driverOf(async () => ({ text: 'Hi.' }));
  const wrong: readonly (readonly [string, object])[] = [
    ['no driver', { driver: undefined }],
    ['a driver without infer()', { driver: {} }],
    ['a limit below 0', { driver, budget: { maxSteps: -1 } }],
    ['a limit that is not a number', { driver, budget: { maxSteps: Number.NaN } }],
    ['zero parallel tools', { driver, maxParallelTools: 0 }],
    ['two tools with the same name', { driver, tools: [add, does('add')] }],
  ];
  test.each(wrong)('%s', (_, options) => {
    expect(() => createAgentLoop(options as AgentLoopOptions)).toThrow(
      expect.objectContaining({ code: 'ARGUMENT_INVALID' }),
    );
  });
});

test('the methods of a clock and a tool are called with their this', async () => {
  class Counting implements Clock {
    private readonly clock = steppedClock(1_000);
    now(): number {
      return this.clock.now();
    }
    newId(): string {
      return this.clock.newId();
    }
  }
  const echo = tool({
    name: 'echo',
    description: 'echo',
    inputSchema: { type: 'object' },
    execute() {
      return this.name;
    },
  });
  const { state } = await observe({ script: [call('echo'), 'Done.'], tools: [echo], clock: new Counting() });
  expect([state.status, resultsOf(state)]).toEqual(['completed', ['echo']]);
});
