import {
  AgentState,
  AgentStop,
  consoleObserver,
  createAgentLoop,
  redactedListener,
  RunAbort,
  type AgentEvent,
} from '@holdfast/core';
import type { ConsoleObserverOptions } from '@holdfast/core/engine';
import { scriptedDriver, steppedClock, type ScriptedAnswer } from '@holdfast/core/testing';
import { describe, expect, test, vi } from 'vitest';
import { does, driverOf, observe, told, type Scenario } from '../support/builders.ts';

/** What is written of a run, as one text. */
async function written(scenario: Scenario, options: ConsoleObserverOptions = {}): Promise<string> {
  const lines: string[] = [];
  const listener = consoleObserver({ write: (line) => lines.push(line), ...options });
  await observe({ clock: steppedClock(5_000), ...scenario, listeners: [listener] });
  return `\n${lines.join('\n')}\n`;
}

const usage = { inputTokens: 10, outputTokens: 5 };
const add = does('add', (args) => Object.values(args as Record<string, number>).reduce((a, b) => a + b));

test('a run with a tool is printed with its cost', async () => {
  const script: ScriptedAnswer[] = [{ calls: { add: { a: 2, b: 2 } } }, 'It is 4.\nSurely.'];
  const state = told().withLlmConfig({ model: 'm' });
  const prices = { m: { input: 1_000, output: 2_000 } };
  expect(await written({ script, tools: [add], state, prices })).toBe(`
▶ execution 1 started (m)
  step 1
    10 in, 5 out, $0.02, tool-calls
    → add {"a":2,"b":2}
    ← add = 4 (0.002 s)
  step 2
    │ It is 4.
    │ Surely.
    10 in, 5 out, $0.02, stop
■ execution 1 completed: 2 steps, 20 in, 10 out, $0.04, 0.034 s
`);
});

test('failed, blocked and multiple calls are printed', async () => {
  const fails = does('fails', () => {
    throw Object.assign(new Error('no\nluck'), { code: 'E_LUCK' });
  });
  const script: ScriptedAnswer[] = [{ calls: { fails: {}, add: { a: 1 }, secret: { id: 7 } } }, 'So be it.'];
  const text = await written({
    script,
    tools: [fails, add, does('secret')],
    maxParallelTools: 1,
    hooks: [
      { beforeToolUse: ({ toolName }) => (toolName === 'secret' ? { block: 'Not for you.' } : undefined) },
    ],
  });
  expect(text).toContain(`
    → 1. fails {}
    ✗ 1. fails failed: E_LUCK: no luck (0.002 s)
    → 2. add {"a":1}
    ← 2. add = 1 (0.002 s)
    ✗ 3. secret {"id":7} blocked by hook 2: TOOL_BLOCKED: Not for you.
`);
});

test('the stop reason is printed', async () => {
  const script: ScriptedAnswer[] = [{ calls: { add: {} } }];
  const text = await written({ script, tools: [does('add', () => null)], budget: { maxSteps: 1 } });
  expect(text).toContain(`
    stop: stepsLimitReached: 1 of 1 steps are used up. (stepsLimit)
■ execution 1 stopped (stepsLimitReached): 1 step, 10 in, 5 out, `);
  const stops = {
    beforeStep() {
      throw new AgentStop('Enough.');
    },
  };
  expect(await written({ hooks: [stops] })).toContain(`
    stop: stopRequested: Enough.
■ execution 1 stopped (stopRequested): 0 in, 0 out, `);
});

test('errors in a step and outside any step are printed', async () => {
  expect(await written({ script: [new Error('down')] })).toContain(`
  step 1
    ✗ Error: down
■ execution 1 failed: 1 step, 0 in, 0 out, `);
  const hook = {
    name: 'h',
    beforeStep() {
      throw new Error('no');
    },
  };
  expect(await written({ hooks: [hook] })).toContain(`
▶ execution 1 started
  ✗ HOOK_FAILED: Hook "h" failed in beforeStep: no
■ execution 1 failed: 0 in, 0 out, `);
});

test('a resumed run is printed', async () => {
  const leaving = new AbortController();
  const driver = scriptedDriver({ calls: { add: { a: 1 } } });
  const loop = createAgentLoop({ driver, tools: [add] });
  let left = told();
  for await (const state of loop.iterate(left, { signal: leaving.signal })) {
    left = state;
    break;
  }
  const text = await written({ state: AgentState.fromJSON(left.toJSON()), script: ['1'] });
  expect(text).toContain('▶ execution 1 resumed after 1 step\n  step 2\n');
});

describe('the text of the model', () => {
  /** Deltas as they are, then an answer of them together. */
  const saying = (...deltas: readonly (readonly ['text' | 'reasoning', string, string])[]): Scenario => ({
    driver: driverOf(async (_, { onDelta }) => {
      for (const [type, id, text] of deltas) onDelta?.({ type, id, text });
      return { content: deltas.map(([type, , text]) => ({ type, text })), usage };
    }),
  });
  const spoken = async (scenario: Scenario, options?: ConsoleObserverOptions): Promise<string[]> =>
    [...(await written(scenario, options)).matchAll(/│ (.*)/g)].map(([, text]) => text ?? '');

  test('is printed line by line, whatever the deltas', async () => {
    const pieces = saying(
      ['text', '1', 'One'],
      ['text', '1', ' line.\r\nAnd an'],
      ['text', '1', 'other.\n\nEnd'],
      ['text', '2', 'Apart.'],
    );
    expect(await spoken(pieces)).toEqual(['One line.', 'And another.', '', 'End', 'Apart.']);
  });

  test('is printed before the response is complete', async () => {
    const lines: string[] = [];
    const seen: string[][] = [];
    const driver = driverOf(async (_, { onDelta }) => {
      onDelta?.({ type: 'text', id: '1', text: 'First.\nSec' });
      seen.push([...lines]);
      return { text: 'First.\nSecond.', usage };
    });
    await observe({ driver, listeners: [consoleObserver({ write: (line) => lines.push(line) })] });
    expect(seen[0]?.at(-1)).toBe('    │ First.');
  });

  test('is printed for a driver that does not stream, and for a partial response', async () => {
    const plain: Scenario = { driver: driverOf(async () => ({ text: 'Two\nlines.', usage })) };
    expect(await spoken(plain)).toEqual(['Two', 'lines.']);
    const broken: Scenario = {
      driver: driverOf(async (_, { onDelta }) => {
        onDelta?.({ type: 'text', id: '1', text: 'Half a' });
        throw new Error('down');
      }),
    };
    expect(await spoken(broken)).toEqual(['Half a']);
  });

  test('is not printed twice when the inference is repeated in another run', async () => {
    const lines: string[] = [];
    const listeners = [consoleObserver({ write: (line) => lines.push(line) })];
    const leaving = new AbortController();
    const driver = driverOf(async (_, { onDelta }) => {
      onDelta?.({ type: 'text', id: '1', text: 'Half a' });
      leaving.abort(new RunAbort('yield'));
      throw new Error('left');
    });
    const { state } = await observe({ driver, listeners, run: { signal: leaving.signal } });
    await observe({ state, script: ['A whole.'], listeners });
    expect(lines.filter((line) => line.includes('│'))).toEqual(['    │ A whole.']);
  });

  test('is printed according to the options', async () => {
    const both = saying(['reasoning', '1', 'Hm.'], ['text', '2', 'Yes.']);
    expect(await spoken(both)).toEqual(['Yes.']);
    expect(await spoken(both, { showReasoning: true })).toEqual(['Hm.', 'Yes.']);
    expect(await spoken(both, { showText: false })).toEqual([]);
  });
});

test('of two parallel runs does not mix', async () => {
  const lines: string[] = [];
  let [turn, other] = [Promise.resolve(), Promise.resolve()];
  const driver = driverOf(async ({ systemPrompt = '' }, { onDelta }) => {
    for (const piece of ['one ', 'two ', 'three\n']) {
      onDelta?.({ type: 'text', id: '1', text: systemPrompt + piece });
      [turn, other] = [other, turn];
      await turn;
    }
    return { text: 'one two three', usage };
  });
  const loop = createAgentLoop({
    driver,
    listeners: [consoleObserver({ write: (line) => lines.push(line) })],
  });
  await Promise.all(['a', 'b'].map((name) => loop.run(told().withSystemPrompt(name))));
  expect(lines.filter((line) => line.includes('│'))).toEqual([
    '    │ aone atwo athree',
    '    │ bone btwo bthree',
  ]);
});

test('values are truncated visibly, and control characters are replaced', async () => {
  const script: ScriptedAnswer[] = [
    { calls: { say: { text: 'x'.repeat(100) } } },
    '\u{1B}[2JGone\u{7}\tand \u{9B}31m red',
  ];
  const text = await written({ script, tools: [does('say', () => '\u{9B}')] }, { maxLength: 20 });
  expect(text).toContain('    → say {"text":"xxxxxxxxxxx…\n    ← say = "\u{FFFD}" (');
  expect(text).toContain('    │ \u{FFFD}[2JGone\u{FFFD}\tand \u{FFFD}31m red\n');
});

test('characters that reorder others are replaced', async () => {
  const script: ScriptedAnswer[] = ['pay \u{202E}001\u{2069} to \u{5D0}\u{200D}'];
  expect(await written({ script })).toContain('    │ pay \u{FFFD}001\u{FFFD} to \u{5D0}\u{200D}\n');
});

test('lines are written to the console by default', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  await observe({ script: ['Hi.'], listeners: [consoleObserver()] });
  expect(log.mock.calls[0]).toEqual(['▶ execution 1 started']);
  log.mockRestore();
});

test('colours are optional ANSI sequences', async () => {
  const text = await written({ script: ['Hi.'] }, { colors: true });
  expect(text).toContain('\u{1B}[1m▶ execution 1 started\u{1B}[0m\n  step 1\n    │ Hi.\n');
  expect(text).toContain('    \u{1B}[2m10 in, 5 out, stop\u{1B}[0m\n\u{1B}[32m■ execution 1 completed');
});

test('small, partly known and unreported costs are printed', async () => {
  const line = async (answer: ScriptedAnswer): Promise<string | undefined> =>
    (await written({ script: [answer] })).split('\n').find((text) => text.endsWith('stop'));
  expect(await line({ text: 'Hi.', usage: { ...usage, cost: 0.000_123 } })).toBe(
    '    10 in, 5 out, $0.00012, stop',
  );
  expect(await line({ text: 'Hi.', usage: {} })).toBe('    0 in, 0 out, 1 not reported, stop');
  const more = {
    afterStep: (state: AgentState) => (state.stepCount === 1 ? state.withContinuationRequested() : undefined),
  };
  const script = [
    { text: 'One.', usage: { ...usage, cost: 1 } },
    { text: 'Two.', usage },
  ];
  expect(await written({ script, hooks: [more] })).toContain(': 2 steps, 20 in, 10 out, at least $1.00, ');
});

test('a nested run is indented', async () => {
  const inner = createAgentLoop({ driver: scriptedDriver('In.'), clock: steppedClock(70_000) });
  const nested = does('nested', async (_, context) => {
    const child = AgentState.empty({ parentAgentId: context.state.agentId }).withUserMessage('Go');
    const onEvent = (event: AgentEvent): void => context.emit(event);
    return (await inner.run(child, { onEvent })).finalResponse;
  });
  const script: ScriptedAnswer[] = [{ calls: { nested: {} } }, 'Out.'];
  expect(await written({ script, tools: [nested] })).toContain(`
    → nested {}
    ▶ execution 1 started
      step 1
        │ In.
        10 in, 5 out, stop
    ■ execution 1 completed: 1 step, 10 in, 5 out, `);
});

test('a redacted run prints no content', async () => {
  const lines: string[] = [];
  const listener = redactedListener(consoleObserver({ write: (line) => lines.push(line) }));
  const script: ScriptedAnswer[] = [{ calls: { add: { a: 2 } } }, 'Two.'];
  await observe({ clock: steppedClock(5_000), script, tools: [add], listeners: [listener] });
  expect(`\n${lines.join('\n')}\n`).toBe(`
▶ execution 1 started
  step 1
    10 in, 5 out, tool-calls
    → add "[redacted]"
    ← add = "[redacted]" (0.002 s)
  step 2
    │ [redacted]
    10 in, 5 out, stop
■ execution 1 completed: 20 in, 10 out, 0.031 s
`);
});

test.each([0, Number.NaN])('maxLength %s is refused', (maxLength) => {
  expect(() => consoleObserver({ maxLength })).toThrow(expect.objectContaining({ code: 'ARGUMENT_INVALID' }));
});
