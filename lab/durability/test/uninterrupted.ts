import {
  answer,
  approve,
  MemorySessionStore,
  pendingApprovals,
  pendingQuestions,
  resume,
  SessionRuntime,
  type AgentSession,
} from '@holdfast/core';
import { answerTo, payer, type Plan } from '../src/agent.ts';
import { Faults } from '../src/faults.ts';
import { Journal } from '../src/journal.ts';

/** Runs a plan in this process without a fault, and returns the session at its end. */
export async function uninterrupted(plan: Plan): Promise<AgentSession> {
  const { sessionId } = plan;
  const agent = payer({
    journal: new Journal('/dev/null'),
    faults: new Faults(undefined),
    pace: 0,
    epoch: 0,
    checkedAt: () => 0,
  });
  const runtime = new SessionRuntime({
    store: new MemorySessionStore(),
    agents: { payer: agent },
    runContext: (info) => ({ accountOf: info.sessionId }),
  });
  await runtime.create({ definition: { name: 'payer' }, sessionId });
  await runtime.enqueue(sessionId, { type: 'message', content: JSON.stringify(plan) }, { id: 'plan' });
  for (;;) {
    const session = await runtime.execute(sessionId, resume());
    const [asked] = pendingApprovals(session.state);
    const [question] = pendingQuestions(session.state);
    if (asked) await runtime.execute(sessionId, approve(asked));
    else if (question) await runtime.execute(sessionId, answer(question.id, answerTo(question.call)));
    else return session;
  }
}
