import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { IS_LONG } from '../../src/effort.ts';
import { ApprovingServer } from './approving-server.ts';
import { takeStep, type PersonAct, type PersonStep, type StepEnd } from './person-step.ts';

/**
 * Calls that the provider runs after a person has approved them, through every change of the conversation. Each step has a
 * store and a runtime of its own, in the long form a process of its own. The server refuses what OpenAI refuses.
 */

const PROCESS = fileURLToPath(new URL('person-process.ts', import.meta.url));

async function takeStepInProcess(step: PersonStep): Promise<StepEnd> {
  const args = ['--conditions=@holdfast/source', '--no-warnings', PROCESS, JSON.stringify(step)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as StepEnd;
}

const places = { runtime: takeStep, process: takeStepInProcess };
const forms: readonly (keyof typeof places)[] = IS_LONG ? ['runtime', 'process'] : ['runtime'];

describe.each(forms)('approvals for a provider, each step in another %s', (form) => {
  let folder: string;
  let server: ApprovingServer;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-approvals-'));
    server = await ApprovingServer.start();
  });

  afterEach(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });

  /** Takes a step. The server must accept each request of the step. */
  async function act(sessionId: string, given: PersonAct): Promise<StepEnd> {
    const file = join(folder, 'sessions.db');
    const end = await places[form]({ file, url: server.url, sessionId, act: given });
    expect(server.refusals).toEqual([]);
    return end;
  }

  /** A session whose agent waits for decisions after this question. */
  async function waitingSession(text = 'Look it up.'): Promise<StepEnd> {
    const { sessionId } = await act('', { type: 'create' });
    const end = await act(sessionId, { type: 'send', text });
    expect(end.status).toBe('suspended');
    return end;
  }

  const decide = ({ sessionId, waiting: [call = ''] }: StepEnd, type: 'approve' | 'deny') =>
    act(sessionId, { type, call });
  const answerOf = ({ status, response }: StepEnd) => [status, response];

  test.each([
    ['approve', 'approve', 'It says 1.'],
    ['deny', 'approve', 'I may not look.'],
    ['approve', 'deny', 'It says 1.'],
  ] as const)('%s, then %s: the first decision counts', async (first, second, response) => {
    const waiting = await waitingSession();
    expect(answerOf(await decide(waiting, first))).toEqual(['completed', response]);
    const again = await decide(waiting, second);
    expect([...answerOf(again), again.refusedWith]).toEqual(['completed', response, 'APPROVAL_NOT_FOUND']);
    expect(server.inputs).toEqual([
      ['user: Look it up.'],
      ['user: Look it up.', 'mcpr_1', `${first} mcpr_1`],
    ]);
  });

  test('each request of a response gets its own decision', async () => {
    const { sessionId, waiting } = await waitingSession('Look at both.');
    const [first = '', second = ''] = waiting;
    expect(await act(sessionId, { type: 'deny', call: first })).toMatchObject({ waiting: [second] });
    const end = await act(sessionId, { type: 'approve', call: second });
    expect(answerOf(end)).toEqual(['completed', 'It says 1.']);
    expect(server.inputs.slice(1)).toEqual([
      ['user: Look at both.', 'mcpr_1', 'deny mcpr_1', 'mcpr_2', 'approve mcpr_2'],
    ]);
  });

  test('of two decisions at once, one counts', async () => {
    const waiting = await waitingSession();
    const kinds = ['approve', 'deny'] as const;
    const ends = await Promise.all(kinds.map((kind) => decide(waiting, kind)));
    const counted = kinds.filter((_, place) => ends[place]?.refusedWith === undefined);
    expect(counted).toHaveLength(1);
    expect(ends.map(({ refusedWith }) => refusedWith)).toContain('APPROVAL_NOT_FOUND');
    expect(server.inputs.slice(1)).toEqual([['user: Look it up.', 'mcpr_1', `${counted[0]} mcpr_1`]]);
  });

  test('after a fork, the request is denied in the copy and decided in the original', async () => {
    const original = await waitingSession();
    const copy = await act(original.sessionId, { type: 'fork' });
    expect(copy.waiting).toEqual([]);
    const again = await act(copy.sessionId, { type: 'send', text: 'Look again.' });
    expect(server.lastInput).toEqual(['user: Look it up.', 'mcpr_1', 'deny mcpr_1', 'user: Look again.']);
    expect(answerOf(await decide(original, 'approve'))).toEqual(['completed', 'It says 1.']);
    expect(server.lastInput).toEqual(['user: Look it up.', 'mcpr_1', 'approve mcpr_1']);
    expect(answerOf(await decide(again, 'approve'))).toEqual(['completed', 'It says 1.']);
    expect(server.lastInput).toEqual([
      'user: Look it up.',
      'mcpr_1',
      'deny mcpr_1',
      'user: Look again.',
      'mcpr_2',
      'approve mcpr_2',
    ]);
  });

  test('a copy of a decided conversation goes on with the result', async () => {
    const original = await waitingSession();
    await decide(original, 'approve');
    const { sessionId } = await act(original.sessionId, { type: 'fork' });
    const next = await act(sessionId, { type: 'send', text: 'And now?' });
    expect(answerOf(await decide(next, 'deny'))).toEqual(['completed', 'I may not look.']);
    expect(server.lastInput).toEqual([
      'user: Look it up.',
      'mcp_1',
      'assistant: It says 1.',
      'user: And now?',
      'mcpr_2',
      'deny mcpr_2',
    ]);
  });

  test.each([
    ['editMessage', { type: 'edit', text: 'Look again.' }, 'user: Look again.'],
    ['regenerate', { type: 'regenerate' }, 'user: Look it up.'],
  ] as const)('%s discards the request that waits', async (_, change, question) => {
    const waiting = await waitingSession();
    const again = await act(waiting.sessionId, change);
    expect(server.lastInput).toEqual([question]);
    expect(await decide(waiting, 'approve')).toMatchObject({ refusedWith: 'APPROVAL_NOT_FOUND' });
    expect(answerOf(await decide(again, 'approve'))).toEqual(['completed', 'It says 1.']);
    expect(server.lastInput).toEqual([question, 'mcpr_2', 'approve mcpr_2']);
  });

  test.each([
    ['editMessage', { type: 'edit', text: 'Look again.' }, 'user: Look again.'],
    ['regenerate', { type: 'regenerate' }, 'user: And now?'],
  ] as const)('%s keeps the calls of earlier turns', async (_, change, question) => {
    const first = await waitingSession();
    await decide(first, 'approve');
    await act(first.sessionId, { type: 'send', text: 'And now?' });
    const again = await act(first.sessionId, change);
    const end = await decide(again, 'deny');
    expect(answerOf(end)).toEqual(['completed', 'I may not look.']);
    const before = ['user: Look it up.', 'mcp_1', 'assistant: It says 1.'];
    expect(server.lastInput).toEqual([...before, question, 'mcpr_3', 'deny mcpr_3']);
  });

  test('cancel denies the request', async () => {
    const waiting = await waitingSession();
    expect(await act(waiting.sessionId, { type: 'cancel' })).toMatchObject({
      status: 'stopped',
      waiting: [],
    });
    expect(await decide(waiting, 'approve')).toMatchObject({ refusedWith: 'APPROVAL_NOT_FOUND' });
    const end = await act(waiting.sessionId, { type: 'send', text: 'Never mind.' });
    expect(answerOf(end)).toEqual(['completed', 'As you wish.']);
    expect(server.lastInput).toEqual(['user: Look it up.', 'mcpr_1', 'deny mcpr_1', 'user: Never mind.']);
  });
});
