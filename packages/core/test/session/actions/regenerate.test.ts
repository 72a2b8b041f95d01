import {
  approve,
  cancel,
  editMessage,
  pendingApprovals,
  regenerate,
  sendMessage,
  systemMessage,
  textOf,
  tool,
  userMessage,
  type AgentSession,
  type Message,
  type SessionAction,
  type SessionRuntime,
} from '@holdfast/core';
import { executionIdOf } from '@holdfast/core/engine';
import { describe, expect, test } from 'vitest';
import { expectSound } from '../../support/builders.ts';
import {
  call,
  definition,
  diesInTool,
  takeOver,
  world,
  type Init,
  type World,
} from '../../support/durable-world.ts';

const ask = tool({ name: 'ask', description: 'Asks.', inputSchema: { type: 'object' } });
const texts = ({ state }: AgentSession): string[] =>
  state.messages.toArray().map((message) => `${message.role[0]}: ${textOf(message)}`);
const messageAt = ({ state }: AgentSession, index: number): Message => {
  const message = state.messages.at(index);
  if (message === undefined) throw new Error(`no message ${index}`);
  return message;
};

interface Talk {
  readonly made: World;
  readonly runtime: SessionRuntime;
  readonly sessionId: string;
  readonly session: AgentSession;
}

/** A session of two turns: u a u a. */
async function talk(...more: string[]): Promise<Talk> {
  const made = world();
  const runtime = made.process(['A1.', 'A2.', ...more]);
  const { sessionId } = await runtime.create({ definition });
  await runtime.execute(sessionId, sendMessage('U1.', { id: 'u1', metadata: { page: 1 } }));
  const session = await runtime.execute(sessionId, sendMessage('U2.', { id: 'u2' }));
  return { made, runtime, sessionId, session };
}

/** Executes an action, and checks that another process reads the same session. */
async function executed({ made, runtime, sessionId }: Talk, action: SessionAction): Promise<AgentSession> {
  const session = await runtime.execute(sessionId, action);
  expectSound(session.state);
  expect((await made.process([]).get(sessionId)).state.toJSON()).toEqual(session.state.toJSON());
  return session;
}

describe('regenerate()', () => {
  test('responds again to the last user message, in a new execution', async () => {
    const talked = await talk('A2 again.');
    const session = await executed(talked, regenerate());
    expect(texts(session)).toEqual(['u: U1.', 'a: A1.', 'u: U2.', 'a: A2 again.']);
    expect(session.state.executionId).not.toBe(talked.session.state.executionId);
    expect(session.state.executionCount).toBe(3);
    expect(executionIdOf(messageAt(session, 2))).toBe(session.state.executionId);
  });

  test('with the id of a response responds again to the message before it', async () => {
    const talked = await talk('A1 again.');
    const { id } = messageAt(talked.session, 1);
    const session = await executed(talked, regenerate({ messageId: id }));
    expect(texts(session)).toEqual(['u: U1.', 'a: A1 again.']);
    expect(messageAt(session, 0).metadata).toEqual({ page: 1, execution_id: session.state.executionId });
  });

  test('with the id of a user message responds to that message', async () => {
    expect(texts(await executed(await talk('A1 again.'), regenerate({ messageId: 'u1' })))).toEqual([
      'u: U1.',
      'a: A1 again.',
    ]);
  });

  test('responds to a message that has no response, as after a cancel', async () => {
    const made = world({ needsApproval: true });
    const runtime = made.process([call(1), 'Without paying.']);
    const { sessionId } = await runtime.create({ definition });
    await runtime.execute(sessionId, sendMessage('Go.'));
    const session = await runtime.execute(sessionId, cancel());
    const again = await executed({ made, runtime, sessionId, session }, regenerate());
    expect(texts(again)).toEqual(['u: Go.', 'a: Without paying.']);
  });

  test('keeps other sections, the metadata and the system prompt', async () => {
    const talked = await talk('Again.');
    await talked.runtime.execute(talked.sessionId, (session) => {
      const { state } = session;
      const store = state.store.append('notes', [systemMessage('A note.')]);
      return session.withState(
        state.withMessageStore(store).withMetadata('plan', 'free').withSystemPrompt('Be brief.'),
      );
    });
    const { state } = await executed(talked, regenerate());
    expect([state.store.section('notes').length, state.metadata.get('plan'), state.systemPrompt]).toEqual([
      1,
      'free',
      'Be brief.',
    ]);
  });

  test('of an unknown message is refused', async () => {
    const { runtime, sessionId } = await talk();
    await expect(runtime.execute(sessionId, regenerate({ messageId: 'u9' }))).rejects.toThrow(
      /^messageId must be the id of a message in the conversation, found .*u9/,
    );
  });

  test('of a conversation without a user message is refused', async () => {
    const runtime = world().process([]);
    const { sessionId } = await runtime.create({ definition });
    await expect(runtime.execute(sessionId, regenerate())).rejects.toMatchObject({
      code: 'ARGUMENT_INVALID',
    });
  });

  test('of a busy session is refused, also with whenBusy: "enqueue"', async () => {
    const { made, runtime, sessionId } = await talk();
    await made.store.claim(sessionId, { workerId: 'other', leaseSeconds: 30 });
    for (const action of [regenerate(), editMessage('u1', 'New.')])
      await expect(runtime.execute(sessionId, action, { whenBusy: 'enqueue' })).rejects.toMatchObject({
        code: 'SESSION_BUSY',
      });
  });
});

describe('editMessage()', () => {
  test('replaces a message under its id, discards what came after it, and responds', async () => {
    const talked = await talk('A1 new.');
    const session = await executed(talked, editMessage('u1', 'U1 new.'));
    expect(texts(session)).toEqual(['u: U1 new.', 'a: A1 new.']);
    expect([messageAt(session, 0).id, messageAt(session, 0).metadata]).toEqual([
      'u1',
      { page: 1, execution_id: session.state.executionId },
    ]);
    expect(session.state.status).toBe('completed');
  });

  test('replaces the last message, with other metadata and parts', async () => {
    const talked = await talk('A2 new.');
    const parts = [{ type: 'text', text: 'U2 new.' }] as const;
    const session = await executed(talked, editMessage('u2', parts, { metadata: { page: 2 } }));
    expect(texts(session)).toEqual(['u: U1.', 'a: A1.', 'u: U2 new.', 'a: A2 new.']);
    expect(messageAt(session, 2).metadata).toMatchObject({ page: 2 });
  });

  test('saves conversations that were cut again and again as a new process reads them', async () => {
    const made = world();
    const runtime = made.process(Array.from({ length: 12 }, (_, index) => `A${index}.`));
    const { sessionId } = await runtime.create({ definition });
    for (let turn = 0; turn < 4; turn++)
      await runtime.execute(sessionId, sendMessage(`U${turn}.`, { id: `u${turn}` }));
    const session = await runtime.get(sessionId);
    const talked = { made, runtime, sessionId, session };
    for (const id of ['u3', 'u2', 'u1']) {
      await executed(talked, editMessage(id, `${id} new.`));
      await executed(talked, regenerate());
    }
    const last = await executed(talked, sendMessage('More.'));
    expect(texts(last)).toEqual(['u: U0.', 'a: A0.', 'u: u1 new.', 'a: A9.', 'u: More.', 'a: A10.']);
  });

  test.each([
    ['of an assistant', (session: AgentSession) => messageAt(session, 1).id],
    ['that does not exist', () => 'u9'],
  ])('of a message %s is refused', async (_, idOf) => {
    const { runtime, sessionId, session } = await talk();
    const action = editMessage(idOf(session), 'New.');
    await expect(runtime.execute(sessionId, action)).rejects.toThrow(RangeError);
    expect(texts(await runtime.get(sessionId))).toEqual(texts(session));
  });

  test('removes a summary that ends with the message, and no other', async () => {
    const talked = await talk('A1 new.', 'A1 newer.');
    const summary = (id: string): Message =>
      userMessage('They talked.', { metadata: { summarized_through: id } });
    const summarized =
      (id: string): SessionAction =>
      (session) =>
        session.withState(
          session.state.withMessageStore(session.state.store.withSection('summary', [summary(id)])),
        );
    await talked.runtime.execute(talked.sessionId, summarized('u0'));
    const kept = await executed(talked, editMessage('u1', 'New.'));
    expect(kept.state.store.section('summary').length).toBe(1);
    await talked.runtime.execute(talked.sessionId, summarized('u1'));
    const removed = await executed(talked, editMessage('u1', 'Newer.'));
    expect(removed.state.store.section('summary').length).toBe(0);
  });

  test('refuses an empty message, an unknown option and reserved metadata', async () => {
    const { runtime, sessionId } = await talk();
    expect(() => editMessage('u1', '')).toThrow(RangeError);
    expect(() => editMessage('u1', 'New.', { id: 'u2' } as never)).toThrow('the message keeps its id');
    const reserved = editMessage('u1', 'New.', { metadata: { execution_id: 'x' } });
    await expect(runtime.execute(sessionId, reserved)).rejects.toMatchObject({ code: 'CONTEXT_INVALID' });
  });
});

describe('an active execution', () => {
  async function waiting(init: Init, ...script: Parameters<World['process']>[0]): Promise<Talk> {
    const made = world(init);
    const runtime = made.process(script, {}, { tools: [ask] });
    const { sessionId } = await runtime.create({ definition });
    const session = await runtime.execute(sessionId, sendMessage('Go.', { id: 'u1' }));
    expect(session.state.status).toBe('suspended');
    return { made, runtime, sessionId, session };
  }

  test.each([
    ['an approval', { needsApproval: true }, call(1)],
    ['an answer', {}, { calls: [['ask', {}]] } as const],
  ])('that waits for %s is stopped first', async (_, init, first) => {
    const talked = await waiting(init, first, 'Again.');
    const ended: string[] = [];
    const onEvent = ({
      type,
      executionId,
    }: {
      readonly type: string;
      readonly executionId: string;
    }): void => {
      if (type.startsWith('execution-'))
        ended.push(`${type} ${executionId === talked.session.state.executionId}`);
    };
    const session = await talked.runtime.execute(talked.sessionId, editMessage('u1', 'New.'), { onEvent });
    expect([texts(session), talked.made.calls]).toEqual([['u: New.', 'a: Again.'], []]);
    expect(ended).toEqual([
      'execution-resumed true',
      'execution-stopped true',
      'execution-started false',
      'execution-completed false',
    ]);
  });

  test('with a call in doubt that requests approval again is refused, and nothing changes', async () => {
    const dead = await diesInTool({ effect: 'ask' });
    takeOver(dead);
    const runtime = dead.process([]);
    await runtime.advance(dead.sessionId);
    const before = await runtime.get(dead.sessionId);
    expect(pendingApprovals(before.state)).toHaveLength(1);
    await expect(runtime.execute(dead.sessionId, regenerate())).rejects.toMatchObject({
      code: 'EXECUTION_ACTIVE',
      data: { executionId: before.state.executionId, status: 'suspended' },
    });
    expect((await runtime.get(dead.sessionId)).version).toBe(before.version);
  });

  test('that a dead worker left in a call is refused', async () => {
    const dead = await diesInTool({});
    takeOver(dead);
    const runtime = dead.process([]);
    await expect(runtime.execute(dead.sessionId, regenerate())).rejects.toMatchObject({
      code: 'EXECUTION_ACTIVE',
      data: { status: 'inProgress' },
    });
  });

  test('of a message that waits in the inbox is refused, and the message gets its response', async () => {
    const { made, sessionId } = await talk();
    const runtime = made.process(['A3.']);
    await runtime.enqueue(sessionId, { type: 'message', content: 'U3.' });
    await expect(runtime.execute(sessionId, regenerate())).rejects.toMatchObject({
      code: 'EXECUTION_ACTIVE',
    });
    await runtime.advance(sessionId);
    expect(texts(await runtime.get(sessionId))).toEqual([
      'u: U1.',
      'a: A1.',
      'u: U2.',
      'a: A2.',
      'u: U3.',
      'a: A3.',
    ]);
  });

  test('whose calls have ended keeps no trace, and their tools do not run again', async () => {
    const made = world();
    const runtime = made.process([call(1), 'Paid.', 'Again.']);
    const { sessionId } = await runtime.create({ definition });
    const session = await runtime.execute(sessionId, sendMessage('Go.'));
    const again = await executed({ made, runtime, sessionId, session }, regenerate());
    expect([texts(again), made.calls.length]).toEqual([['u: Go.', 'a: Again.'], 1]);
  });

  test('that was approved goes on, and can be regenerated at its end', async () => {
    const talked = await waiting({ needsApproval: true }, call(1), 'Paid.', 'Again.');
    const [asked] = pendingApprovals(talked.session.state);
    await talked.runtime.execute(talked.sessionId, approve(asked?.id ?? ''));
    expect(texts(await executed(talked, regenerate()))).toEqual(['u: Go.', 'a: Again.']);
  });
});

describe('regenerate() with steps: later', () => {
  test('saves the work and calls no model; another process responds', async () => {
    const { made, runtime, sessionId } = await talk();
    const saved = await runtime.execute(sessionId, regenerate(), { steps: 'later' });
    expect([saved.state.status, texts(saved)]).toEqual(['pending', ['u: U1.', 'a: A1.', 'u: U2.']]);
    expect((await made.store.due()).sessions.map((due) => due.sessionId)).toEqual([sessionId]);
    const worker = made.process(['A2 again.']);
    expect((await worker.advance(sessionId)).outcome).toEqual({ type: 'finished' });
    expect(texts(await runtime.get(sessionId)).at(-1)).toBe('a: A2 again.');
  });

  test('leaves enqueued messages in the inbox, and responds to none', async () => {
    const { made, runtime, sessionId } = await talk();
    const slow: SessionAction = async (session, context) => {
      await runtime.enqueue(sessionId, { type: 'message', content: 'U3.' }, { id: 'u3' });
      return regenerate()(session, context);
    };
    await runtime.execute(sessionId, slow, { steps: 'later' });
    expect((await runtime.inspect(sessionId)).waitingItems).toBe(1);
    await made.process(['A2 and A3.']).advance(sessionId);
    expect(texts(await runtime.get(sessionId)).slice(-2)).toEqual(['u: U3.', 'a: A2 and A3.']);
  });

  test('ends an execution that waits for approval', async () => {
    const runtime = world({ needsApproval: true }).process([call(5)]);
    const { sessionId } = await runtime.create({ definition });
    await runtime.execute(sessionId, sendMessage('Pay.', { id: 'u1' }));
    const saved = await runtime.execute(sessionId, regenerate(), { steps: 'later' });
    expect([saved.state.status, texts(saved)]).toEqual(['pending', ['u: Pay.']]);
  });
});
