import { AgentSession, AgentState, type AgentDefinition } from '@holdfast/core';
import { steppedClock } from '@holdfast/core/testing';

const at = Date.UTC(2026, 10, 21, 12);
const definition: AgentDefinition = {
  name: 'helper',
  description: 'Helps with sums.',
  label: 'The helper',
  systemPrompt: 'Be brief.',
  llmConfig: { model: 'openai:gpt-5', temperature: 0 },
  metadata: { team: 'sums' },
};

/** Written out, because states have golden files of their own: what is proved here is the session around one. */
const answered = {
  format: 'holdfast/agent-state',
  version: 1,
  agentId: 'fdfa4600-0000-4000-8000-000000000001',
  createdAt: at,
  updatedAt: at + 1_000,
  executionCount: 1,
  context: {
    systemPrompt: 'Be brief.',
    metadata: { customer: 'c_1' },
    sections: [
      {
        name: 'messages',
        messages: [
          {
            id: 'fdfa4600-0000-4000-8000-000000000002',
            role: 'user',
            content: [{ type: 'text', text: 'What is 2 + 2?' }],
          },
          {
            id: 'fdfa4600-0000-4000-8000-000000000005',
            role: 'assistant',
            content: [{ type: 'text', text: 'It is 4.' }],
            metadata: {
              step_id: 'fdfa4600-0000-4000-8000-000000000004',
              execution_id: 'fdfa4600-0000-4000-8000-000000000003',
              agent_id: 'fdfa4600-0000-4000-8000-000000000001',
            },
          },
        ],
      },
    ],
  },
  execution: {
    executionId: 'fdfa4600-0000-4000-8000-000000000003',
    status: 'completed',
    startedAt: at + 250,
    completedAt: at + 1_000,
    workedSeconds: 0.75,
    steps: [
      {
        id: 'fdfa4600-0000-4000-8000-000000000004',
        input: { ranges: [{ section: 'messages', from: 0, to: 1 }] },
        output: [{ section: 'messages', from: 1, to: 2 }],
        response: { finishReason: 'stop', usage: { inputTokens: 120, outputTokens: 30, cost: 0.0015 } },
        startedAt: at + 250,
        completedAt: at + 750,
      },
    ],
  },
};

const revision = (version: number) => ({ incarnation: 'fdfa4600-0000-4000-8000-0000000000ff', version });
const fresh = (): AgentSession => AgentSession.create({ definition, clock: steppedClock(at, 250) });
const answering = (init: Partial<Parameters<typeof AgentSession.create>[0]> = {}): AgentSession => {
  const state = AgentState.fromJSON(structuredClone(answered));
  return AgentSession.create({ definition, sessionId: 'support/42', state, at, ...init });
};

/** The state at the start of the next execution of the answered session. */
const asked = {
  ...answered,
  updatedAt: at + 3_000,
  executionCount: 2,
  execution: {
    executionId: 'fdfa4600-0000-4000-8000-000000000006',
    status: 'inProgress',
    startedAt: at + 3_000,
    steps: [],
  },
};
const askedAgain = (): AgentState => AgentState.fromJSON(structuredClone(asked));

/** How the session of each golden file of version 2 is made: it has members that version 1 does not have. */
export const goldenSessions2: Readonly<Record<string, () => AgentSession>> = {
  owned: () =>
    AgentSession.create({
      definition,
      sessionId: 'support/43',
      owner: 'acme',
      at,
      clock: steppedClock(at, 250),
    }),
  described: () =>
    answering({ title: 'Sums 🦊', labels: { channel: 'mail', '\u0000': '\ud83d\ude42' } }).withRevision(
      revision(2),
      at + 1_250,
    ),
  limited: () =>
    answering({
      budget: {
        maxSteps: 100,
        maxTokens: 1_000_000,
        maxSeconds: 3_600,
        maxCost: 2.5,
        deadline: at + 86_400_000,
      },
    }).withRevision(revision(2), at + 1_250),
  'several-executions': () =>
    answering({ owner: 'acme' })
      .withState(askedAgain())
      .withRevision(revision(6), at + 3_000),
  'cleared-history': () =>
    answering()
      .withState(AgentState.empty({ agentId: 'fdfa4600-0000-4000-8000-000000000001', at }))
      .withRevision(revision(7), at + 4_000),
  fork: () => {
    const { execution, ...rest } = structuredClone(asked);
    const pending = { ...rest, execution: { ...execution, status: 'pending' } };
    return answering({ state: AgentState.fromJSON(pending), awaitsResume: true, forkedFrom: 'support/41' });
  },
};

/** How the session of each golden file is made. A session that is added gets a new file; the files are never edited. */
export const goldenSessions: Readonly<Record<string, () => AgentSession>> = {
  unsaved: () => fresh(),
  created: () => fresh().withRevision(revision(1), at + 500),
  answered: () => answering().withRevision(revision(4), at + 1_250),
  child: () =>
    answering({
      definition: { name: 'hélper 🙂' },
      sessionId: ' "\u0000\n\ud83d\ude42 ',
      parentId: 'support/42',
      forkedFrom: 'fdfa4600-0000-4000-8000-000000000001',
    }).withRevision(revision(2), at + 1_250),
  suspended: () =>
    answering()
      .withStatus('suspended')
      .withRevision(revision(5), at + 1_500),
  completed: () =>
    answering()
      .withStatus('completed')
      .withRevision(revision(5), at + 1_500),
  failed: () =>
    answering()
      .withStatus('failed')
      .withRevision(revision(5), at + 1_500),
  deleted: () =>
    answering()
      .withStatus('deleted')
      .withRevision(revision(Number.MAX_SAFE_INTEGER), at + 1_500),
};
