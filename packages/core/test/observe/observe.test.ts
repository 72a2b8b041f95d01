import {
  AgentStop,
  createAgentLoop,
  eventListener,
  redactedListener,
  textOf,
  toolResult,
  type AgentEvent,
  type AgentState,
  type JsonValue,
  type Redact,
} from '@holdfast/core';
import type { AgentEventType } from '@holdfast/core/engine';
import { scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { does, emitted, expectSound, observe, told, type Scenario } from '../support/builders.ts';

const add: ScriptedAnswer = { calls: { add: { a: 2 } } };

describe('listeners of some events', () => {
  test('receive the events of one type, with their members', async () => {
    const names: string[] = [];
    const listener = eventListener('tool-completed', (event) => {
      expectTypeOf(event.type).toEqualTypeOf<'tool-completed'>();
      names.push(event.toolExecution.name);
    });
    await observe({ script: [add, 'Two.'], tools: [does('add')], listeners: [listener] });
    expect(names).toEqual(['add']);
  });

  test('receive the events of several types', async () => {
    const seen: string[] = [];
    const listener = eventListener(['step-started', 'step-completed'], ({ type, stepNumber }) => {
      seen.push(`${type} ${stepNumber}`);
    });
    await observe({ script: ['Hi.'], listeners: [listener] });
    expect(seen).toEqual(['step-started 1', 'step-completed 1']);
  });

  test('receive all events', async () => {
    const seen: AgentEvent[] = [];
    const { events } = await observe({ script: ['Hi.'], listeners: [(event) => seen.push(event)] });
    expect(seen).toEqual(events);
  });

  test('do not affect the run when they throw, now or later', async () => {
    const later = eventListener('step-started', () => Promise.reject(new Error('later')) as unknown as void);
    const now = eventListener('step-started', () => {
      throw new Error('now');
    });
    expect((await observe({ script: ['Hi.'], listeners: [later, now] })).state.status).toBe('completed');
  });
});

const SECRET = 'hunter2';

/** All texts that can be reached from a value, whatever hides them from JSON. */
function textsIn(value: unknown, found: Set<unknown> = new Set()): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || found.has(value)) return [];
  found.add(value);
  return Object.entries(value).flatMap(([key, member]) => [key, ...textsIn(member, found)]);
}

/** A run in which the secret is wherever content can be. */
const secretive: Scenario = {
  state: told(SECRET)
    .withSystemPrompt(SECRET)
    .withMetadata('note', SECRET)
    .withLlmConfig({ model: 'm', providerOptions: { p: { user: SECRET } } }),
  script: [
    {
      content: [
        { type: 'reasoning', text: SECRET, providerOptions: { p: { signature: SECRET } } },
        { type: 'text', text: `It is ${SECRET}.` },
        { type: 'file', mediaType: 'text/plain', data: { type: 'text', text: SECRET }, filename: SECRET },
        { type: 'source', source: { url: SECRET } },
        { type: 'custom', kind: SECRET },
        { type: 'tool-call', toolCallId: 'w', toolName: 'web', input: { q: SECRET }, providerExecuted: true },
        {
          type: 'tool-result',
          toolCallId: 'w',
          toolName: 'web',
          output: { type: 'json', value: { a: SECRET } },
        },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'find', input: { name: SECRET, deep: [SECRET] } },
        { type: 'tool-call', toolCallId: 'c2', toolName: 'fails', input: {} },
        { type: 'tool-call', toolCallId: 'c3', toolName: 'find', input: { a: SECRET }, invalid: SECRET },
        { type: 'tool-call', toolCallId: 'c4', toolName: 'blocked', input: { a: SECRET } },
      ],
      usage: { inputTokens: 10, outputTokens: 5 },
      providerMetadata: { p: { echo: SECRET } },
      modelId: 'm-1',
    },
    'Go on.',
  ],
  tools: [
    does('find', (_, context) => {
      context.saveProgress({ at: SECRET });
      return toolResult({
        value: { found: SECRET },
        modelOutput: { type: 'text', value: SECRET },
        metadata: { last: SECRET },
      });
    }),
    does('fails', () => {
      const data = { password: SECRET };
      const cause = new AggregateError([new Error(SECRET)], SECRET);
      throw Object.assign(new Error(SECRET, { cause }), { code: 'E_FIND', data });
    }),
    does('blocked'),
  ],
  hooks: [
    { beforeToolUse: ({ toolName }) => (toolName === 'blocked' ? { block: SECRET } : undefined) },
    {
      afterStep(state) {
        if (state.stepCount < 2) return undefined;
        const context = { why: SECRET };
        throw new AgentStop({ reason: 'userRequested', message: SECRET, context, source: 'person' });
      },
      onStop: (state) => state.withError(new Error(SECRET)),
    },
  ],
};

const shown: Redact = (content) => (typeof content === 'string' ? content.replaceAll(SECRET, '*') : '[data]');

async function observeRedacted(redact?: Redact) {
  const seen: AgentEvent[] = [];
  const listener = redactedListener((event) => seen.push(event), redact);
  return { seen, ...(await observe({ ...secretive, listeners: [listener] })) };
}

/** Of the latest step, and outside any. */
const errorsOf = ({ execution }: AgentState) => [
  ...(execution?.latestStep?.allErrors ?? []),
  ...(execution?.errors ?? []),
];

const of = <T extends AgentEventType>(events: readonly AgentEvent[], type: T) =>
  events.filter((event) => event.type === type) as Extract<AgentEvent, { type: T }>[];

describe('redacted events', () => {
  test('have no content, and are complete except for deltas', async () => {
    const { seen, events } = await observeRedacted();
    expect(textsIn(events).filter((text) => text.includes(SECRET)).length).toBeGreaterThan(10);
    expect(textsIn(seen).filter((text) => text.includes(SECRET))).toEqual([]);
    expect(JSON.stringify(seen)).not.toContain(SECRET);
    const rest = events.filter(({ type }) => type !== 'inference-delta');
    expect(seen.map(({ type, at }) => [type, at])).toEqual(rest.map(({ type, at }) => [type, at]));
  });

  test('retain names, ids, times, usage, reasons and codes', async () => {
    const { seen, events } = await observeRedacted();
    const facts = (all: readonly AgentEvent[]) => ({
      responses: of(all, 'inference-completed').map(({ response: { usage, finishReason, modelId } }) => [
        usage,
        finishReason,
        modelId,
      ]),
      tools: [...of(all, 'tool-completed'), ...of(all, 'tool-blocked')].map(({ stepId, toolExecution }) => [
        stepId,
        toolExecution.id,
        toolExecution.name,
        toolExecution.outcome?.type,
        toolExecution.error?.code,
        toolExecution.duration,
      ]),
      steps: of(all, 'step-completed').map(({ stepNumber, stepExecution }) => [
        stepNumber,
        stepExecution.id,
        stepExecution.step.type,
        stepExecution.duration,
        stepExecution.usage.toJSON(),
      ]),
      signals: of(all, 'stop-signal-raised').map(({ signal: { reason, source } }) => [reason, source]),
    });
    expect(facts(seen)).toEqual(facts(events));
    expect(of(seen, 'inference-started').map(({ messageCount }) => messageCount)).toEqual([1, 3]);
  });

  test('have a valid outline as their state, with the status of the run', async () => {
    const { seen, events } = await observeRedacted();
    const rest = events.filter(({ type }) => type !== 'inference-delta');
    const facts = (state: AgentState) => ({
      ids: [state.agentId, state.parentAgentId, state.executionId],
      times: [state.createdAt, state.updatedAt, state.execution?.startedAt, state.execution?.completedAt],
      status: [state.status, state.executionCount, state.execution?.workedSeconds, state.stopReason],
      usage: state.usage.toJSON(),
      errors: errorsOf(state).map(({ code, name }) => [code, name]),
      model: state.llmConfig?.model,
    });
    const outlined = seen.map(({ state }) => state);
    expect(outlined.some(({ errors }) => errors.some(({ code }) => code === 'E_FIND'))).toBe(true);
    for (const [index, state] of outlined.entries()) {
      expectSound(state);
      expect(facts(state)).toEqual(facts((rest[index] as AgentEvent).state));
      expect([state.messages.length, state.systemPrompt, state.stepCount]).toEqual([0, undefined, 0]);
    }
  });

  test('contain the content that redact returns', async () => {
    const { seen } = await observeRedacted(shown);
    expect(of(seen, 'inference-completed')[0]?.response.text).toBe('It is *.');
    const found = of(seen, 'tool-completed').find(
      ({ toolExecution }) => toolExecution.call.toolCallId === 'c1',
    );
    expect([found?.toolExecution.args, found?.toolExecution.value]).toEqual(['[data]', '[data]']);
    const failed = of(seen, 'tool-completed').find(({ toolExecution }) => toolExecution.name === 'fails');
    expect(failed?.toolExecution.error).toMatchObject({ code: 'E_FIND', message: '*', data: '[data]' });
    expect(of(seen, 'stop-signal-raised')[0]?.signal.message).toBe('*');
    expect(textsIn(seen).filter((text) => text.includes(SECRET))).toEqual([]);
  });

  test('contain the context of a signal when redact returns an object', async () => {
    const { seen } = await observeRedacted((content) => (typeof content === 'string' ? '*' : { kept: true }));
    expect(of(seen, 'stop-signal-raised')[0]?.signal.context).toEqual({ kept: true });
  });

  test('are dropped when redact throws', async () => {
    const { seen, state, events } = await observeRedacted((content: JsonValue) => {
      if (typeof content !== 'string') throw new Error('not a text');
      return '*';
    });
    expect(events.at(-1)?.state).toBe(state);
    expect(textsIn(seen).filter((text) => text.includes(SECRET))).toEqual([]);
    expect(of(seen, 'tool-completed').every(({ toolExecution }) => toolExecution.name === 'fails')).toBe(
      true,
    );
  });
});

describe('a loop with redact', () => {
  test('redacts events for all listeners, and not the states that it returns', async () => {
    const [ofLoop, ofRun, ofStream]: [AgentEvent[], AgentEvent[], AgentEvent[]] = [[], [], []];
    const loop = createAgentLoop({
      driver: scriptedDriver({ calls: { echo: { a: SECRET } } }, SECRET),
      tools: [
        does('echo', (_, context) => {
          context.emit(emitted(told(SECRET), 0));
          return SECRET;
        }),
      ],
      listeners: [(event) => ofLoop.push(event)],
      redact: shown,
    });
    const stream = loop.stream(told(SECRET), { onEvent: (event) => ofRun.push(event) });
    for await (const event of stream) ofStream.push(event);
    const state = await stream.result;
    expect(state.finalResponse).toBe(SECRET);
    expect([...state.messages].map((message) => textOf(message))).toContain(SECRET);
    expect(textsIn([ofLoop, ofRun, ofStream]).filter((text) => text.includes(SECRET))).toEqual([]);
    expect(ofLoop.length).toBeGreaterThan(10);
    expect(ofRun).toEqual(ofLoop);
    expect(ofStream).toEqual(ofLoop);
    expect(of(ofStream, 'execution-started')).toHaveLength(2);
  });
});
