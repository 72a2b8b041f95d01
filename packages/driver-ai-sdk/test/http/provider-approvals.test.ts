import { createOpenAI } from '@ai-sdk/openai';
import {
  approve,
  createAgentLoop,
  deny,
  MemorySessionStore,
  pendingApprovals,
  sendMessage,
  SessionRuntime,
  type AgentSession,
  type SessionStore,
} from '@holdfast/core';
import { providerTool } from '@holdfast/core/driver';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { generateText, type ModelMessage } from 'ai';
import { afterEach, describe, expect, test } from 'vitest';
import { localServer, stopLocalServers, type Body, type LocalServer, type Reply } from './local-server.ts';

/** Approvals that OpenAI requests before it runs the tools of a remote MCP server. */

afterEach(stopLocalServers);

const usage = { input_tokens: 11, output_tokens: 7, total_tokens: 18 };
const request = {
  id: 'mcpr_1',
  type: 'mcp_approval_request',
  server_label: 'docs',
  name: 'lookup',
  arguments: '{"page":1}',
};
const call = {
  id: 'mcp_1',
  type: 'mcp_call',
  status: 'completed',
  server_label: 'docs',
  name: 'lookup',
  arguments: '{"page":1}',
  output: 'Page 1.',
  error: null,
  approval_request_id: 'mcpr_1',
};
const text = (value: string) => ({
  id: `msg_${value.length}`,
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: value, annotations: [] }],
});
const response = (id: string, ...output: readonly object[]) => ({
  id,
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'gpt-5',
  output,
  usage,
});

const deltasOf = (item: object, output_index: number): readonly object[] => {
  if (!('content' in item) || !('id' in item)) return [];
  const delta = (item.content as readonly { readonly text: string }[])[0]?.text ?? '';
  return [{ type: 'response.output_text.delta', item_id: item.id, output_index, content_index: 0, delta }];
};

const whole = (id: string, ...output: readonly object[]): Reply => ({ json: response(id, ...output) });
const streamed = (id: string, ...output: readonly object[]): Reply => ({
  events: [
    { type: 'response.created', response: { ...response(id), status: 'in_progress', usage: null } },
    ...output.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item },
      ...deltasOf(item, output_index),
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response: response(id, ...output) },
  ],
});

const mcp = {
  serverLabel: 'docs',
  serverUrl: 'https://docs.example/mcp',
  requireApproval: 'always',
} as const;
const remote = providerTool({ name: 'mcp', id: 'openai.mcp', args: mcp, approvalTimeoutSeconds: 60 });

function modelAt(url: string) {
  return createOpenAI({ apiKey: 'sk-test', baseURL: url })('gpt-5');
}

type Write = typeof whole;
const forms = { generated: whole, streamed } satisfies Record<string, Write>;
type Form = keyof typeof forms;

/** A runtime as a new process has it: everything that it knows is in the store. A listener makes the driver stream. */
function runtimeAt(url: string, form: Form, store: SessionStore): SessionRuntime {
  const reader = createAgentLoop({ driver: aiSdkDriver({ model: modelAt(url) }), tools: [remote] });
  const listener = form === 'streamed' ? { onEvent: () => undefined } : {};
  return new SessionRuntime({ store, agents: { reader }, ...listener });
}

interface Asked {
  readonly server: LocalServer;
  readonly store: SessionStore;
  readonly session: AgentSession;
}

/** A session whose agent waits for the approval of a call. */
async function askedSession(form: Form): Promise<Asked> {
  const write = forms[form];
  const server = await localServer(write('resp_1', request), write('resp_2', call, text('It says 1.')));
  const store = new MemorySessionStore();
  const runtime = runtimeAt(server.url, form, store);
  const { sessionId } = await runtime.create({ definition: { name: 'reader' } });
  return { server, store, session: await runtime.execute(sessionId, sendMessage('Look it up.')) };
}

function decided({ server, store, session }: Asked, form: Form, approved: boolean): Promise<AgentSession> {
  const id = pendingApprovals(session.state)[0]?.id ?? '';
  const decision = approved ? approve(id) : deny(id, { reason: 'Not now.' });
  return runtimeAt(server.url, form, store).execute(session.sessionId, decision);
}

/** The requests that the AI SDK sends for the same conversation. */
async function theirBodies(approved: boolean): Promise<readonly Body[]> {
  const server = await localServer(whole('resp_1', request), whole('resp_2', call, text('It says 1.')));
  const model = modelAt(server.url);
  const tools = { mcp: createOpenAI({ apiKey: 'sk-test' }).tools.mcp(mcp) };
  const messages: ModelMessage[] = [{ role: 'user', content: 'Look it up.' }];
  const first = await generateText({ model, tools, messages });
  const approvalId = first.content.find((part) => part.type === 'tool-approval-request')?.approvalId ?? '';
  const response = { type: 'tool-approval-response', approvalId, approved, providerExecuted: true } as const;
  messages.push(...first.responseMessages, { role: 'tool', content: [response] });
  await generateText({ model, tools, messages });
  return server.bodies;
}

function withoutStream(body: Body): Body {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'stream'));
}

describe.each(Object.keys(forms) as Form[])('a remote tool that needs approval, %s', (form) => {
  test('suspends the execution until a person decides, at most for the timeout of the tool', async () => {
    const { session } = await askedSession(form);
    const { state } = session;
    expect([state.status, state.execution?.waiting.map(({ type }) => type)]).toEqual([
      'suspended',
      ['approval', 'until'],
    ]);
    expect(pendingApprovals(state).map(({ call: { toolName, input } }) => [toolName, input])).toEqual([
      ['mcp.lookup', { page: 1 }],
    ]);
  });

  test.each([true, false])('answers the provider as the AI SDK does, approved: %s', async (approved) => {
    const asked = await askedSession(form);
    const { state } = await decided(asked, form, approved);
    const sent = asked.server.bodies.map(withoutStream);
    expect(sent).toEqual(await theirBodies(approved));
    expect(sent[1]?.['input']).toContainEqual({
      type: 'mcp_approval_response',
      approval_request_id: 'mcpr_1',
      approve: approved,
    });
    expect([state.status, state.finalResponse]).toEqual(['completed', 'It says 1.']);
  });

  test('refuses other arguments for a call that the provider runs', async () => {
    const { server, store, session } = await askedSession(form);
    const id = pendingApprovals(session.state)[0]?.id ?? '';
    const decision = runtimeAt(server.url, form, store).execute(
      session.sessionId,
      approve(id, { input: { page: 2 } }),
    );
    await expect(decision).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
  });

  test('denies the call when the execution ends without a decision', async () => {
    const { server, session } = await askedSession(form);
    const model = modelAt(server.url);
    const loop = createAgentLoop({ driver: aiSdkDriver({ model }), tools: [remote] });
    await loop.run(session.state.withExecutionStatus('stopped').withUserMessage('Never mind.'));
    expect(server.bodies[1]?.['input']).toContainEqual({
      type: 'mcp_approval_response',
      approval_request_id: 'mcpr_1',
      approve: false,
    });
  });
});
