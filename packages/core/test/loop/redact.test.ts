import {
  AgentState,
  createAgentLoop,
  redactedListener,
  subagent,
  type AgentEvent,
  type Hook,
} from '@holdfast/core';
import { DriverError } from '@holdfast/core/driver';
import { scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { does } from '../support/builders.ts';

const SECRET = 'ann_at_example_com';
const question = AgentState.empty().withUserMessage('Go.');
const calls: ScriptedAnswer = {
  calls: [
    ['look', {}],
    [SECRET, {}],
  ],
};
const redact = (content: unknown): string =>
  typeof content === 'string' ? content.replaceAll(SECRET, '[name]') : '[data]';

/** Every text in the events, as a log or an exporter would write it. */
const written = (events: readonly AgentEvent[]): string => JSON.stringify(events);

async function eventsOf(
  script: readonly ScriptedAnswer[],
  options: { readonly hooks?: readonly Hook[]; readonly content?: typeof redact } = {},
): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  const { content, hooks = [] } = options;
  const listener = redactedListener((event) => void events.push(event), content);
  const loop = createAgentLoop({
    driver: scriptedDriver(...script),
    tools: [does('look')],
    hooks,
    listeners: [listener],
  });
  await loop.run(question);
  return events;
}

describe('a name under which no tool exists', () => {
  const blocks: Hook = { name: 'policy', beforeToolUse: () => ({ block: `No ${SECRET}.` }) };
  const providerCall: ScriptedAnswer = {
    content: [
      { type: 'tool-call', toolCallId: 'a', toolName: SECRET, input: {}, providerExecuted: true },
      { type: 'tool-result', toolCallId: 'a', toolName: SECRET, output: { type: 'text', value: 'x' } },
      { type: 'text', text: 'Done.' },
    ],
  };
  const invalid: ScriptedAnswer = {
    content: [{ type: 'tool-call', toolCallId: 'a', toolName: SECRET, input: {}, invalid: `No ${SECRET}.` }],
    finishReason: 'tool-calls',
  };
  const table: readonly (readonly [string, readonly ScriptedAnswer[], readonly Hook[]])[] = [
    ['of a failed call', [calls, 'Done.'], []],
    ['of a blocked call', [calls, 'Done.'], [blocks]],
    ['of an invalid call', [invalid, 'Done.'], []],
    ['of a call that the provider ran', [providerCall], []],
  ];
  test.each(table)('%s is content: no event has it', async (_, script, hooks) => {
    for (const content of [undefined, redact]) {
      const events = await eventsOf(script, { hooks, ...(content && { content }) });
      expect(written(events)).not.toContain(SECRET);
      expect(written(events)).toContain(content ? '[name]' : '[redacted]');
    }
  });

  test('stays distinct from the name of a tool, which stays', async () => {
    const events = await eventsOf([calls, 'Done.']);
    const names = events.flatMap((event) =>
      event.type === 'tool-completed' ? [event.toolExecution.name] : [],
    );
    expect(names.toSorted()).toEqual(['[redacted]', 'look']);
    const [response] = events.flatMap((event) =>
      event.type === 'inference-completed' ? [event.response] : [],
    );
    expect(response?.toolCalls.map(({ toolName }) => toolName)).toEqual(['look', '[redacted]']);
  });

  test('inside a subagent is judged by the tools of the subagent', async () => {
    const events: AgentEvent[] = [];
    const inner = createAgentLoop({ driver: scriptedDriver(calls, 'Found.'), tools: [does('look')] });
    const search = subagent({ name: 'search', description: 'Searches.', loop: inner });
    const loop = createAgentLoop({
      driver: scriptedDriver({ calls: { search: { prompt: 'Go.' } } }, 'Done.'),
      tools: [search],
      redact: () => '[redacted]',
      listeners: [(event) => void events.push(event)],
    });
    await loop.run(question);
    const shown = events.flatMap((event) =>
      event.type === 'subagent' ? [[event.toolName, event.event] as const] : [],
    );
    expect(new Set(shown.map(([name]) => name))).toEqual(new Set(['search']));
    const names = shown.flatMap(([, event]) =>
      event.type === 'tool-completed' ? [event.toolExecution.name] : [],
    );
    expect(names.toSorted()).toEqual(['[redacted]', 'look']);
    expect(written(events)).not.toContain(SECRET);
  });

  test('is every name in an event that was copied', async () => {
    const events: AgentEvent[] = [];
    const listener = redactedListener((event) => void events.push(event));
    const loop = createAgentLoop({
      driver: scriptedDriver(calls, 'Done.'),
      tools: [does('look')],
      listeners: [(event) => listener({ ...event })],
    });
    await loop.run(question);
    expect(written(events)).not.toContain('look');
  });
});

test('the error for which a subagent waits inside a call is content', async () => {
  const events: AgentEvent[] = [];
  const failure = new DriverError('authentication', `The key of ${SECRET} is not valid.`);
  const inner = createAgentLoop({ driver: scriptedDriver(failure), tools: [does('look')] });
  const search = subagent({ name: 'search', description: 'Searches.', loop: inner });
  const loop = createAgentLoop({
    driver: scriptedDriver({ calls: { search: { prompt: 'Go.' } } }),
    tools: [search],
    inferenceRetry: { onExhausted: 'suspend' },
    listeners: [redactedListener((event) => void events.push(event))],
  });
  const state = await loop.run(question);
  expect(state.execution?.waiting[0]?.type).toBe('retry');
  expect(events.map(({ type }) => type)).toContain('tool-waiting');
  expect(written(events)).not.toContain(SECRET);
});
