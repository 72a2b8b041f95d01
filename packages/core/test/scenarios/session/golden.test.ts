import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AgentSession, hasErrorCode } from '@holdfast/core';
import { expect, test } from 'vitest';
import { expectSound } from '../../support/builders.ts';
import { goldenSessions } from '../../golden/golden-sessions.ts';
import { writeGolden } from '../../golden/write-golden.ts';
import { goldenSessionFolder } from '../../golden/write-golden-sessions.ts';

const folder = fileURLToPath(new URL('../../golden/agent-session/v1/', import.meta.url));
const files = (await readdir(folder)).toSorted();
const documentOf = async (name: string): Promise<object> =>
  JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8'));

const AT = Date.UTC(2026, 10, 21, 12);
const INCARNATION = 'fdfa4600-0000-4000-8000-0000000000ff';

const expectAnswered = ({ state, createdAt }: AgentSession): void => {
  expect([state.status, state.finalResponse, state.messages.length]).toEqual(['completed', 'It is 4.', 2]);
  expect([createdAt, state.metadata.get('customer')]).toEqual([AT, 'c_1']);
};

/** What is in each file, in the words of those who wrote it. */
const facts: Readonly<Record<string, (session: AgentSession) => void>> = {
  unsaved: (session) => {
    expect([session.revision, session.version, session.status]).toEqual([
      { incarnation: '', version: 0 },
      0,
      'active',
    ]);
    expect([session.sessionId, session.state.agentId]).toEqual([
      'fdfa4600-0000-4000-8000-000000000001',
      'fdfa4600-0000-4000-8000-000000000002',
    ]);
    expect([session.parentId, session.forkedFrom, session.createdAt, session.updatedAt]).toEqual([
      undefined,
      undefined,
      AT,
      AT,
    ]);
    expect([session.state.systemPrompt, session.state.llmConfig]).toEqual([
      'Be brief.',
      { model: 'openai:gpt-5', temperature: 0 },
    ]);
  },
  created: (session) => {
    expect([session.revision, session.createdAt, session.updatedAt]).toEqual([
      { incarnation: INCARNATION, version: 1 },
      AT,
      AT + 500,
    ]);
    expect(session.definition).toEqual({
      name: 'helper',
      description: 'Helps with sums.',
      label: 'The helper',
      systemPrompt: 'Be brief.',
      llmConfig: { model: 'openai:gpt-5', temperature: 0 },
      metadata: { team: 'sums' },
    });
  },
  answered: (session) => {
    expectAnswered(session);
    expect(session.info).toEqual({
      sessionId: 'support/42',
      parentId: undefined,
      agentName: 'helper',
      status: 'active',
      version: 4,
      createdAt: AT,
      updatedAt: AT + 1_250,
      executionStatus: 'completed',
      totals: { executions: 1, steps: 1, seconds: 0.75, tokens: 150, cost: 0.0015 },
    });
  },
  child: (session) => {
    expectAnswered(session);
    expect([session.sessionId, session.parentId, session.forkedFrom]).toEqual([
      ' "\u0000\n🙂 ',
      'support/42',
      'fdfa4600-0000-4000-8000-000000000001',
    ]);
    expect([session.agentName, session.definition]).toEqual(['hélper 🙂', { name: 'hélper 🙂' }]);
  },
  suspended: (session) => expect([session.status, session.version]).toEqual(['suspended', 5]),
  completed: (session) => expect([session.status, session.version]).toEqual(['completed', 5]),
  failed: (session) => expect([session.status, session.version]).toEqual(['failed', 5]),
  deleted: (session) => expect([session.status, session.version]).toEqual(['deleted', 2 ** 53 - 1]),
};

test('every golden file has expected facts, and every expected session has a file', () => {
  const names = Object.keys(facts).toSorted();
  expect(files).toEqual(names.map((name) => `${name}.json`));
  expect(Object.keys(goldenSessions).toSorted()).toEqual(names);
});

test.for(Object.entries(facts))('agent-session/v1/%s.json', async ([name, check]) => {
  const document = await documentOf(name);
  const session = AgentSession.fromJSON(structuredClone(document));
  check(session);
  expectSound(session.state);
  expect(Object.isFrozen(session)).toBe(true);
  assert.deepStrictEqual(JSON.parse(JSON.stringify(session)), document);
});

test('the sessions that the files were created from still equal their contents', async () => {
  for (const [name, make] of Object.entries(goldenSessions))
    assert.deepStrictEqual(AgentSession.fromJSON(await documentOf(name)), make());
});

test('only the relations to other sessions may be absent, and an unknown member is refused', async () => {
  const document = await documentOf('child');
  const isRefused = (changed: object): boolean => {
    try {
      AgentSession.fromJSON(structuredClone(changed));
      return false;
    } catch (error) {
      return hasErrorCode(error, 'STATE_FORMAT');
    }
  };
  const without = (name: string): object =>
    Object.fromEntries(Object.entries(document).filter(([other]) => other !== name));
  expect(Object.keys(document).filter((name) => !isRefused(without(name)))).toEqual([
    'parentId',
    'forkedFrom',
  ]);
  expect([isRefused(document), isRefused({ ...document, agentName: 'helper' })]).toEqual([false, true]);
});

test('an existing golden session is never written again', async () => {
  expect(goldenSessionFolder).toBe(folder);
  const other = await mkdtemp(join(tmpdir(), 'holdfast-golden-'));
  try {
    await writeFile(join(other, 'created.json'), 'as it was');
    const written = await writeGolden(other, goldenSessions);
    expect(written).toEqual(Object.keys(goldenSessions).filter((name) => name !== 'created'));
    expect(await readFile(join(other, 'created.json'), 'utf8')).toBe('as it was');
  } finally {
    await rm(other, { recursive: true });
  }
});
