import {
  answer,
  approve,
  createAgentLoop,
  MemorySessionStore,
  pendingApprovals,
  pendingQuestions,
  sendMessage,
  SessionRuntime,
  tool,
  type AgentState,
  type SessionAction,
} from '@holdfast/core';
import { scriptedDriver, type ScriptedAnswer } from '@holdfast/core/testing';
import { chunksBetween, toUIMessages } from '@holdfast/ui-ai-sdk';
import type { UIMessage, UIMessageChunk } from 'ai';
import { describe, expect, test } from 'vitest';
import { asRead } from '../support/page.ts';
import { TestChat, TestTransport } from '../support/test-chat.ts';

const object = { type: 'object' } as const;
const tools = [
  tool({ name: 'add', description: 'Adds.', inputSchema: object, execute: () => 4 }),
  tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: object,
    needsApproval: true,
    execute: () => 'paid',
  }),
  tool({ name: 'ask', description: 'Asks the user.', inputSchema: object }),
];

/** An agent, and a page with the chat of the SDK. */
async function world(...script: ScriptedAnswer[]) {
  const loop = createAgentLoop({ driver: scriptedDriver(...script), tools });
  const runtime = new SessionRuntime({ store: new MemorySessionStore(), agents: { a: loop } });
  const { sessionId } = await runtime.create({ definition: { name: 'a' } });
  const transport = new TestTransport();
  const ownCalls: string[] = [];
  const chat = new TestChat({
    transport,
    onToolCall: ({ toolCall }) => void ownCalls.push(toolCall.toolName),
  });
  const act = async (action: SessionAction): Promise<AgentState> =>
    (await runtime.execute(sessionId, action)).state;
  return { chat, transport, ownCalls, act };
}

function wantedOf(state: AgentState): UIMessage {
  const wanted = toUIMessages(state).at(-1);
  if (wanted === undefined) throw new Error('The state has no message.');
  return wanted;
}

function chunks(shown: UIMessage | undefined, wanted: UIMessage, options = {}): readonly UIMessageChunk[] {
  const difference = chunksBetween(shown, wanted, options);
  if (difference.type === 'restart') throw new Error('The page must restart.');
  return difference.chunks;
}

const finish: UIMessageChunk = { type: 'finish' };

describe('the chat of the SDK', () => {
  test('has the messages of the state when a stream ends', async () => {
    const { chat, transport, act } = await world({ calls: { add: { a: 2 } } }, 'Four.');
    const state = await act(sendMessage('2 + 2?', { id: 'u1' }));
    transport.next([...chunks(undefined, wantedOf(state)), finish]);
    await chat.sendMessage({ id: 'u1', role: 'user', parts: [{ type: 'text', text: '2 + 2?' }] });
    expect(chat.messages.map(asRead)).toEqual(toUIMessages(state).map(asRead));
    expect(chat.status).toBe('ready');
  });

  test('continues the same message after a decision', async () => {
    const { chat, transport, act } = await world({ calls: { pay: { sum: 1 } } }, 'Paid.');
    const waiting = await act(sendMessage('Pay.', { id: 'u1' }));
    chat.messages = structuredClone(toUIMessages(waiting));
    const part = chat.lastMessage?.parts[1];
    const id = part && 'approval' in part ? (part.approval?.id ?? '') : '';
    await chat.addToolApprovalResponse({ id, approved: true });
    const [call] = pendingApprovals(waiting);
    const done = await act(approve(call ?? ''));
    const shown = chat.lastMessage;
    transport.next([...chunks(shown, wantedOf(done), { isNewStream: true }), finish]);
    await chat.sendMessage();
    expect(chat.messages.map(asRead)).toEqual(toUIMessages(done).map(asRead));
  });

  test('continues after an answer of the page, and runs its own tool once', async () => {
    const { chat, transport, ownCalls, act } = await world(
      { calls: { ask: { q: 'Where?' } } },
      'Bergen it is.',
    );
    const waiting = await act(sendMessage('Book.', { id: 'u1' }));
    const asked = wantedOf(waiting);
    transport.next([...chunks(undefined, asked), finish]);
    await chat.sendMessage({ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Book.' }] });
    expect(ownCalls).toEqual(['ask']);
    const [question] = pendingQuestions(waiting);
    const done = await act(answer(question ?? '', { city: 'Bergen' }));
    transport.next([...chunks(asked, wantedOf(done), { isNewStream: true }), finish]);
    await chat.sendMessage();
    expect(chat.messages.map(asRead)).toEqual(toUIMessages(done).map(asRead));
    expect(ownCalls).toEqual(['ask']);
  });

  test('reads a message from its beginning after a lost connection, and runs no tool that has its result', async () => {
    const { chat, transport, ownCalls, act } = await world({ calls: { add: {} } }, 'Four, as you know.');
    const state = await act(sendMessage('Go.', { id: 'u1' }));
    const wanted = wantedOf(state);
    const half: UIMessage = {
      ...wanted,
      parts: [...wanted.parts.slice(0, -1), { type: 'text', text: 'Four,', state: 'streaming' }],
    };
    transport.next(chunks(undefined, half), { isBroken: true });
    await chat.sendMessage({ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Go.' }] });
    expect(asRead(chat.lastMessage)).toEqual(asRead(half));
    transport.next([...chunks(undefined, wanted), finish]);
    await chat.resumeStream();
    expect(chat.messages.map(asRead)).toEqual(toUIMessages(state).map(asRead));
    expect(ownCalls).toEqual([]);
  });
});
