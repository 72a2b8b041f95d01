import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AgentSession, hasErrorCode } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { expectSound } from '../../support/builders.ts';
import { goldenSessions, goldenSessions2 } from '../../golden/golden-sessions.ts';
import { writeGolden } from '../../golden/write-golden.ts';
import { goldenSessionFolders } from '../../golden/write-golden-sessions.ts';

const folderOf = (version: number): string =>
  fileURLToPath(new URL(`../../golden/agent-session/v${version}/`, import.meta.url));
const documentOf = async (version: number, name: string): Promise<object> =>
  JSON.parse(await readFile(join(folderOf(version), `${name}.json`), 'utf8'));

const AT = Date.UTC(2026, 10, 21, 12);
const INCARNATION = 'fdfa4600-0000-4000-8000-0000000000ff';

const expectAnswered = ({ state, createdAt }: AgentSession): void => {
  expect([state.status, state.finalResponse, state.messages.length]).toEqual(['completed', 'It is 4.', 2]);
  expect([createdAt, state.metadata.get('customer')]).toEqual([AT, 'c_1']);
};

type Facts = Readonly<Record<string, (session: AgentSession) => void>>;

/** The expected session of each file of version 1. */
const facts1: Facts = {
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

/** The expected session of each file of version 2. */
const facts2: Facts = {
  owned: (session) => {
    expect([session.owner, session.info.owner, session.version]).toEqual(['acme', 'acme', 0]);
    expect([session.title, session.labels, session.budget, session.totals.executions]).toEqual([
      undefined,
      undefined,
      undefined,
      0,
    ]);
  },
  described: (session) => {
    expectAnswered(session);
    expect([session.title, session.owner]).toEqual(['Sums 🦊', undefined]);
    expect(session.labels).toEqual({ channel: 'mail', '\u0000': '🙂' });
  },
  limited: (session) => {
    expectAnswered(session);
    expect({ ...session.budget?.toJSON() }).toEqual({
      maxSteps: 100,
      maxTokens: 1_000_000,
      maxSeconds: 3_600,
      maxCost: 2.5,
      deadline: AT + 86_400_000,
    });
  },
  'several-executions': (session) => {
    expect([session.owner, session.state.status, session.state.stepCount]).toEqual(['acme', 'inProgress', 0]);
    expect(session.totals).toEqual({ executions: 2, steps: 1, seconds: 0.75, tokens: 150, cost: 0.0015 });
  },
  'cleared-history': (session) => {
    expect([session.state.messages.length, session.state.execution]).toEqual([0, undefined]);
    expect(session.totals).toEqual({ executions: 1, steps: 1, seconds: 0.75, tokens: 150, cost: 0.0015 });
  },
  fork: (session) => {
    expect([session.awaitsResume, session.forkedFrom, session.state.status]).toEqual([
      true,
      'support/41',
      'pending',
    ]);
  },
};

describe.each([
  [1, facts1, goldenSessions],
  [2, facts2, goldenSessions2],
])('version %i', (version, facts, sessions) => {
  test('every golden file has expected facts, and every expected session has a file', async () => {
    const names = Object.keys(facts).toSorted();
    const files = (await readdir(folderOf(version))).toSorted();
    expect(files).toEqual(names.map((name) => `${name}.json`));
    expect(Object.keys(sessions).toSorted()).toEqual(names);
  });

  test.each(Object.entries(facts))('%s.json', async (name, check) => {
    const document = await documentOf(version, name);
    const session = AgentSession.fromJSON(structuredClone(document));
    check(session);
    expectSound(session.state);
    expect(Object.isFrozen(session)).toBe(true);
    assert.deepStrictEqual(JSON.parse(JSON.stringify(session)), document);
    expect(document).toMatchObject({ version });
  });

  test('the sessions that the files were created from still equal their contents', async () => {
    for (const [name, make] of Object.entries(sessions)) {
      const { endedExecutions: _, ...expected } = make();
      const { endedExecutions: __, ...read } = AgentSession.fromJSON(await documentOf(version, name));
      assert.deepStrictEqual(read, expected);
    }
  });
});

test('only the relations to other sessions may be absent, and an unknown member is refused', async () => {
  const document = await documentOf(1, 'child');
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
  expect([...goldenSessionFolders.keys()]).toEqual([folderOf(1), folderOf(2)]);
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
