import type { AgentState } from '@holdfast/core';
import { inspect } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { IS_LONG } from '../src/effort.ts';
import { providers } from '../src/providers/index.ts';
import { BrokenStream, type BrokenRun } from '../src/runs/broken-run.ts';
import { factsOf, withTurn } from '../src/runs/held-run.ts';
import { callAndText, scenarios } from '../src/scenarios/index.ts';
import { answersOf, isSupported } from '../src/scenarios/scenario.ts';
import { ProviderServer, type Break } from '../src/server.ts';
import type { WireFailure } from '../src/wire.ts';

/**
 * An answer of each provider breaks after each of its chunks, in each way. The short form breaks an answer with text,
 * reasoning and a call; the long form breaks every answer of every scenario with one turn.
 */

const server = await ProviderServer.start();
afterAll(() => server.stop());

/** The codes of the failures after which the loop repeats a call. */
const RETRYABLE = ['DRIVER_RATE_LIMITED', 'DRIVER_OVERLOADED', 'DRIVER_NETWORK', 'DRIVER_TIMEOUT'];
const PASSING: readonly WireFailure[] = IS_LONG ? ['overloaded', 'rateLimited'] : ['overloaded'];

const broken = IS_LONG ? scenarios.filter(({ turns }) => turns.length === 1) : [callAndText];

const rows = providers.flatMap((provider) =>
  broken
    .filter((scenario) => isSupported(scenario, provider.features))
    .flatMap((scenario) => answersOf(scenario).map((_, place) => ({ provider, scenario, place })))
    .filter(({ place }) => IS_LONG || place === 0)
    .map((row) => ({ ...row, name: `${row.provider.name}: ${row.scenario.name}, answer ${row.place + 1}` })),
);

describe.each(rows)('$name', ({ provider, scenario, place }) => {
  const breaks: readonly (readonly [string, (after: number) => Break])[] = [
    ['the socket is destroyed', (after) => ({ type: 'cut', after })],
    ['the body ends', (after) => ({ type: 'end', after })],
    ...PASSING.flatMap((failure) => {
      const event = provider.wire.failureEvent(failure);
      if (event === undefined) return [];
      return [
        [
          `the provider reports ${failure}`,
          (after: number): Break => ({ type: 'fail', after, event }),
        ] as const,
      ];
    }),
  ];

  type Check = (after: number, stream: BrokenStream, whole: BrokenRun) => Promise<void>;

  /** Calls `check` for each number of chunks that arrive, and returns what it throws. */
  async function problemsAfterEachChunk(check: Check): Promise<readonly string[]> {
    const stream = new BrokenStream(server, provider, scenario, place);
    const whole = await stream.run();
    expect(whole.state.status).toBe('completed');
    const problems: string[] = [];
    for (let after = 0; after < stream.chunks; after++) {
      await check(after, stream, whole).catch((error: unknown) => {
        problems.push(`After ${after} of ${stream.chunks} chunks: ${inspect(error)}`);
      });
    }
    return problems;
  }

  test.each(breaks)('%s: the loop repeats the call', async (_, breakAfter) => {
    const problems = await problemsAfterEachChunk(async (after, stream, whole) => {
      expectSameEnd(await stream.run(breakAfter(after)), whole, place);
    });
    expect(problems).toEqual([]);
  });

  test('another process continues a run that yields inside the stream', async () => {
    const problems = await problemsAfterEachChunk(async (after, stream, whole) => {
      const { state, requests: sent } = await stream.runUntilAborted(after, 'yield');
      expect(state.status).toBe('inProgress');
      expect(toolsOf(state)).toEqual(toolsOf(whole.state).slice(0, toolsBefore(whole.state, place)));
      const isRepeated = state.currentStep?.response === undefined;
      const { state: end, requests } = await stream.continue(state, isRepeated ? place : place + 1);
      expect(outcomeOf(end)).toEqual(outcomeOf(whole.state));
      expect([...sent.slice(0, isRepeated ? place : place + 1), ...requests]).toEqual(whole.requests);
    });
    expect(problems).toEqual([]);
  });

  test('a run that is cancelled inside the stream leaves a conversation that goes on', async () => {
    const problems = await problemsAfterEachChunk(async (after, stream, whole) => {
      const { state, requests: sent } = await stream.runUntilAborted(after, 'cancel');
      expect(state.status).toBe('stopped');
      expect(toolsOf(state)).toEqual(toolsOf(whole.state).slice(0, toolsBefore(whole.state, place)));
      const last = answersOf(scenario).length - 1;
      const next = withTurn(state, { text: 'And now?', answers: [] });
      const { state: end, requests } = await stream.continue(next, last);
      expect([end.status, end.finalResponse]).toEqual(['completed', whole.state.finalResponse]);
      expectContinued(requests[0], sent.at(-1));
    });
    expect(problems).toEqual([]);
  });
});

function expectSameEnd({ state, requests }: BrokenRun, whole: BrokenRun, place: number): void {
  expect(outcomeOf(state)).toEqual(outcomeOf(whole.state));
  const failures = state.steps[place]?.inferenceFailures ?? [];
  const again = failures.map(() => whole.requests[place]);
  expect(requests).toEqual(whole.requests.toSpliced(place, 0, ...again));
  expect(failures.length).toBeLessThanOrEqual(1);
  for (const { error, usage } of failures) {
    expect(RETRYABLE).toContain(error.code);
    expect(usage?.inputTokens).not.toBe(0);
  }
  // A complete answer may lack its usage, which is then unknown.
  const { isComplete, inputTokens = 0 } = state.usage;
  expect(!isComplete || inputTokens >= (whole.state.usage.inputTokens ?? 0)).toBe(true);
}

/** The facts of a state that do not depend on broken calls. */
function outcomeOf(state: AgentState) {
  const { status, errors, finalResponse } = state;
  if (status !== 'completed') return { status, errors };
  const steps = state.steps.map((step) => ({ ...factsOf(step), usage: undefined }));
  return { status, finalResponse, steps, tools: toolsOf(state) };
}

/** The calls of tools that were started. */
function toolsOf({ steps }: AgentState) {
  return steps.flatMap(({ toolExecutions }) =>
    toolExecutions.map(({ name, outcome, value, attempt }) => ({
      name,
      type: outcome?.type,
      value,
      attempt,
    })),
  );
}

/** The number of tool calls before the step that breaks. */
function toolsBefore({ steps }: AgentState, place: number): number {
  return steps.slice(0, place).flatMap(({ toolExecutions }) => toolExecutions).length;
}

type Request = Readonly<Record<string, unknown>>;

/**
 * The request after a cancelled one: the same settings and messages, then perhaps a partial answer without a call, then
 * the new message.
 */
function expectContinued(request: unknown, cancelled: unknown): void {
  const { [listOf(request)]: messages, ...settings } = request as Request;
  const { [listOf(cancelled)]: before, ...settingsBefore } = cancelled as Request;
  expect(settings).toEqual(settingsBefore);
  const all = partsOf((messages as readonly Message[]).flatMap(separated));
  const first = partsOf(before as readonly Message[]);
  expect(withoutReasoning(all.slice(0, first.length))).toEqual(withoutReasoning(first));
  const added = all.slice(first.length);
  expect(JSON.stringify(added.at(-1))).toContain('And now?');
  expect(JSON.stringify(added)).not.toMatch(/call(rome|oslo)1/);
}

/** The message of the next turn stands in the message before it where a provider takes no two messages of the user in a row. */
function separated(message: Message): readonly Message[] {
  const name = message.parts === undefined ? 'content' : 'parts';
  const whole = JSON.stringify(message[name]) ?? '';
  if (!whole.includes(`${JOINT}And now?`)) return [message];
  const [before = '', after = ''] = whole.split(JOINT);
  const [opening = ''] = /^(\[\{("type":"text",)?"text":)?"/.exec(before) ?? [];
  const closing = opening === '"' ? '"' : '"}]';
  return [before + closing, opening + after].map((text): Message => {
    return { ...message, [name]: JSON.parse(text) as unknown };
  });
}

/** The separator of two joined texts, in JSON. */
const JOINT = String.raw`\n\n`;

interface Message {
  readonly role?: string;
  readonly content?: unknown;
  readonly parts?: unknown;
}

/** The parts of messages with their roles. Some packages join adjacent messages with the same role. */
function partsOf(messages: readonly Message[]): readonly unknown[] {
  return messages.flatMap((message): readonly unknown[] => {
    const parts = message.content ?? message.parts;
    return Array.isArray(parts) ? parts.map((part: unknown) => ({ role: message.role, part })) : [message];
  });
}

/** The package of DeepSeek sends no reasoning of earlier turns. */
function withoutReasoning(messages: readonly unknown[]): unknown {
  return JSON.parse(
    JSON.stringify(messages, (name, value: unknown) => (name === 'reasoning_content' ? undefined : value)),
  );
}

/** The member of a request that holds the messages. */
function listOf(request: unknown): string {
  const name = ['messages', 'input', 'contents', 'prompt'].find((each) => each in (request as Request));
  if (name === undefined) throw new Error(`The request has no messages: ${JSON.stringify(request)}`);
  return name;
}
