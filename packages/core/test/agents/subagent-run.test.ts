import {
  AgentState,
  createAgentLoop,
  RunAbort,
  subagent,
  type AgentEvent,
  type AgentLoop,
  type Tool,
} from '@holdfast/core';
import { isTerminal, type AbortKind } from '@holdfast/core/engine';
import type { Driver, InferenceResponseInit } from '@holdfast/core/driver';
import { steppedClock } from '@holdfast/core/testing';
import { describe, expect, test } from 'vitest';
import { cameTo, does, driverOf, expectPaired, expectSound, readBack, told } from '../support/builders.ts';

const NAMES = ['root', 'mid', 'deep'] as const;
const TOKENS = 15;
const usage = { inputTokens: 10, outputTokens: 5 };

/** What happens in a run of three levels, in order: answers of models by agent and turn, and the deepest agent's tool. */
const ALL = ['root 0', 'mid 0', 'deep 0', 'work', 'deep 1', 'mid 1', 'root 1'] as const;
const INFERENCES = ALL.filter((place) => place !== 'work');

interface World {
  readonly journal: string[];
  /** Is called at each place, in the middle of what happens there. */
  readonly at?: (place: string) => void;
}

/** Each process makes ids of its own, and each agent in it. */
let agents = 9_000;

/** A root that asks a mid, which asks a deep, which does some work. Each then answers. */
function rootOf(world: World): AgentLoop {
  let tools: readonly Tool[] = [
    does('work', async () => {
      world.journal.push('work');
      world.at?.('work');
      await new Promise(setImmediate);
      return 'worked';
    }),
  ];
  let called = 'work';
  let loop: AgentLoop | undefined;
  for (const name of NAMES.toReversed()) {
    if (loop) {
      tools = [subagent({ name: called, description: called, loop })];
    }
    const clock = steppedClock((agents += 1_000));
    loop = createAgentLoop({ driver: driverFor(name, called, world), tools, clock });
    called = name;
  }
  return loop as AgentLoop;
}

function driverFor(name: string, called: string, { journal, at }: World): Driver {
  return driverOf(async ({ messages }, { signal }): Promise<InferenceResponseInit> => {
    const turn = [...messages].filter(({ role }) => role === 'assistant').length;
    journal.push(`${name} ${turn}`);
    at?.(`${name} ${turn}`);
    await new Promise(setImmediate);
    if (signal.aborted) return { text: 'Half', finishReason: 'aborted', usage };
    if (turn > 0) return { text: `${name} done.`, usage };
    const input = { prompt: `${name} asks` };
    return { content: [{ type: 'tool-call', toolCallId: 'c', toolName: called, input }], usage };
  });
}
const executionsOf = (state: AgentState) =>
  [...state.steps, ...(state.currentStep ? [state.currentStep] : [])].flatMap((step) => step.toolExecutions);

/** A state and those of the agents inside of it. */
function levelsOf(state: AgentState): readonly AgentState[] {
  const inside = executionsOf(state).flatMap(({ progress }) =>
    progress === undefined ? [] : levelsOf(AgentState.fromJSON(progress)),
  );
  return [state, ...inside];
}

async function abortedAt(place: string, kind: AbortKind) {
  const controller = new AbortController();
  const journal: string[] = [];
  const at = (now: string): void => (now === place ? controller.abort(new RunAbort(kind)) : undefined);
  const state = await rootOf({ journal, at }).run(told(), { signal: controller.signal });
  return { state: expectSound(state), journal };
}

const whole: World = { journal: [] };
const expected = await rootOf(whole).run(told());

test('an uninterrupted run of three levels completes', () => {
  expect(whole.journal).toEqual(ALL);
  expect([expected.status, expected.usage.totalTokens]).toEqual(['completed', 6 * TOKENS]);
});

describe('a cancel during a call ends every level', () => {
  test.each(ALL)('%s', async (place) => {
    const { state, journal } = await abortedAt(place, 'cancel');
    const levels = levelsOf(state);
    const depth = { root: 1, mid: 2, deep: 3, work: 3 }[place.split(' ')[0] as 'root'];
    expect(levels).toHaveLength(depth);
    for (const level of levels) {
      expectSound(level);
      expectPaired(level.messages);
      expect([level.status, level.stopReason]).toEqual(['stopped', 'userRequested']);
      for (const { outcome, isRunning } of executionsOf(level)) {
        expect(isRunning).toBe(false);
        expect(outcome?.type).toBe(outcome?.type === 'succeeded' ? 'succeeded' : 'interrupted');
      }
    }
    expect(journal).toEqual(ALL.slice(0, ALL.indexOf(place) + 1));
    expect(state.usage.totalTokens).toBe(journal.filter((entry) => entry !== 'work').length * TOKENS);
  });
});

describe('a run that yields is resumed by another process with the same result', () => {
  test.each(ALL)('%s', async (place) => {
    const { state, journal } = await abortedAt(place, 'yield');
    expect(state.status).toBe('inProgress');
    for (const level of levelsOf(state)) expect(isTerminal(level.status)).toBe(false);
    const again: string[] = [];
    const last = expectSound(await rootOf({ journal: again }).run(readBack(state)));
    // The answer that was under way is asked for again; a tool that had begun could end.
    const done = ALL.slice(0, ALL.indexOf(place) + (place === 'work' ? 1 : 0));
    expect([journal, again]).toEqual([ALL.slice(0, ALL.indexOf(place) + 1), ALL.slice(done.length)]);
    expect(cameTo(last)).toEqual(cameTo(expected));
    expect(last.executionId).toBe(state.executionId);
  });

  test('after a yield at every point', async () => {
    let state = told();
    const journal: string[] = [];
    for (const place of ALL) {
      const controller = new AbortController();
      const at = (now: string): void => (now === place ? controller.abort(new RunAbort('yield')) : undefined);
      state = readBack(await rootOf({ journal, at }).run(state, { signal: controller.signal }));
      expect(state.status).toBe('inProgress');
    }
    const last = await rootOf({ journal }).run(state);
    expect(cameTo(last)).toEqual(cameTo(expected));
    expect(journal.filter((entry) => entry === 'work')).toHaveLength(1);
    expect(journal).toHaveLength(6 * 2 + 1);
  });

  test('beside tools of the same step, which complete or do not start', async () => {
    const ran: string[] = [];
    const controller = new AbortController();
    const plain = (name: string): Tool =>
      does(name, async (_, { signal }) => {
        await new Promise(setImmediate);
        ran.push(`${name}${signal.aborted ? ' aborted' : ''}`);
      });
    const asked: string[] = [];
    const rootWith = (at: () => void): AgentLoop => {
      const child = createAgentLoop({
        driver: driverOf(async (_, { signal }) => {
          at();
          return signal.aborted ? { finishReason: 'aborted' } : { text: 'Found.', usage };
        }),
      });
      const answers = (name: string) => ({ type: 'tool-call', toolCallId: name, toolName: name }) as const;
      const content = ['a', 'find', 'b'].map((name) => ({ ...answers(name), input: { prompt: 'x' } }));
      return createAgentLoop({
        driver: driverOf(async ({ messages }) =>
          messages.length > 1 ? { text: 'Done.', usage } : { content, usage },
        ),
        tools: [plain('a'), plain('b'), subagent({ name: 'find', description: 'Finds.', loop: child })],
        hooks: [{ beforeToolUse: ({ toolName }) => void asked.push(toolName) }],
        maxParallelTools: 2,
      });
    };
    const leave = (): void => controller.abort(new RunAbort('yield'));
    const left = await rootWith(leave).run(told(), { signal: controller.signal });
    expect([left.status, ran]).toEqual(['inProgress', ['a']]);
    expect(executionsOf(left).map(({ name, isRunning }) => [name, isRunning])).toEqual([
      ['a', false],
      ['find', true],
    ]);
    const last = expectSound(await rootWith(() => undefined).run(readBack(left)));
    expect(executionsOf(last).map(({ name, attempt, outcome }) => [name, attempt, outcome?.type])).toEqual([
      ['a', 1, 'succeeded'],
      ['find', 2, 'succeeded'],
      ['b', 1, 'succeeded'],
    ]);
    expect([last.status, ran, asked]).toEqual(['completed', ['a', 'b'], ['a', 'find', 'b']]);
    expect(last.usage.totalTokens).toBe(3 * TOKENS);
  });

  test('by a process that is aborted, with an outcome for every call', async () => {
    const { state } = await abortedAt('deep 1', 'yield');
    const journal: string[] = [];
    const last = expectSound(
      await rootOf({ journal }).run(readBack(state), { signal: AbortSignal.abort('stop') }),
    );
    expect([last.status, last.stopReason, journal]).toEqual(['stopped', 'userRequested', []]);
    expect(executionsOf(last).map(({ outcome }) => outcome?.type)).toEqual(['interrupted']);
    expect(last.usage).toEqual(state.usage);
  });

  test('by a loop that no longer has the agent', async () => {
    const { state } = await abortedAt('deep 1', 'yield');
    const driver = driverFor('root', 'mid', { journal: [] });
    const last = expectSound(await createAgentLoop({ driver }).run(readBack(state)));
    expect(last.status).toBe('completed');
    expect(executionsOf(last).map(({ outcome }) => outcome?.type)).toEqual(['interrupted']);
  });
});

test.each(ALL)('a run that is lost at %s changes nothing afterwards', async (place) => {
  const controller = new AbortController();
  const seen: [AgentState, boolean][] = [];
  const onEvent = ({ state }: AgentEvent): void => void seen.push([state, controller.signal.aborted]);
  const at = (now: string): void => (now === place ? controller.abort(new RunAbort('lost')) : undefined);
  const last = await rootOf({ journal: [], at }).run(told(), { signal: controller.signal, onEvent });
  expect(seen.filter(([, isLost]) => isLost)).toEqual([]);
  expect([last.status, last.usage]).toEqual(['inProgress', seen.at(-1)?.[0].usage]);
});

/** Every state that a listener of the root was shown, and the moment. */
async function momentsOf(): Promise<readonly (readonly [number, string, AgentState])[]> {
  const states = new Map<AgentState, string>();
  const onEvent = (event: AgentEvent): void => {
    let [inside, name] = [event, ''];
    for (; inside.type === 'subagent'; inside = inside.event) name += `${inside.toolName} › `;
    if (event.state.status === 'inProgress' && !states.has(event.state))
      states.set(event.state, name + inside.type);
  };
  await rootOf({ journal: [] }).run(told(), { onEvent });
  return [...states].map(([state, moment], index) => [index, moment, state] as const);
}
const moments = await momentsOf();

describe('an interruption at any instant repeats no work and counts all usage once', () => {
  test('the interruptions reach every agent', () => {
    const kinds = new Set(moments.map(([, moment]) => moment));
    for (const kind of ['usage-updated', 'mid › deep › tool-started', 'mid › deep › tool-completed'])
      expect(kinds).toContain(kind);
    expect(moments.length).toBeGreaterThan(20);
  });

  test.each(moments)('%i: %s', async (_, __, state) => {
    const answered = state.usage.totalTokens / TOKENS;
    const works = levelsOf(readBack(state))
      .flatMap(executionsOf)
      .filter(({ name }) => name === 'work');
    const journal: string[] = [];
    const last = expectSound(await rootOf({ journal }).run(readBack(state)));
    expect(journal.filter((entry) => entry !== 'work')).toEqual(INFERENCES.slice(answered));
    // The deep agent, and what it did, is forgotten once it has answered.
    expect(journal.includes('work')).toBe(works.length === 0 && answered <= 3);
    expect([last.status, last.usage.totalTokens]).toEqual(['completed', 6 * TOKENS]);
    const isCutInWork = works.some(({ isRunning }) => isRunning);
    expect(cameTo(isCutInWork ? expected : last)).toEqual(cameTo(expected));
    expect(last.executionId).toBe(state.executionId);
  });
});
