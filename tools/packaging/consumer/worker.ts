/** A Cloudflare Worker with an agent: everything that requests may share is made once, at module level. */
import {
  createAgentLoop,
  MemorySessionStore,
  sendMessage,
  SessionRuntime,
  AgentState,
  tool,
  type Hook,
} from '@holdfast/core';
import type { Driver } from '@holdfast/core/driver';

const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

/** A model that takes a while, asks for one tool, and then answers with its result. */
const driver: Driver = {
  async infer({ messages }, { signal, onDelta }) {
    await pause();
    signal.throwIfAborted();
    const { last } = messages;
    if (last?.role !== 'tool')
      return { content: [{ type: 'tool-call', toolCallId: 'call_1', toolName: 'look', input: {} }] };
    onDelta?.({ type: 'text', id: 'text', text: 'I see ' });
    return { text: 'I see stars.' };
  },
};
const look = tool({
  name: 'look',
  description: 'Looks.',
  inputSchema: { type: 'object' },
  timeoutSeconds: 10,
  async execute(_, { signal }) {
    await pause();
    signal.throwIfAborted();
    return 'stars';
  },
});
const hook: Hook = { beforeStep: async () => void (await pause()) };

const agent = createAgentLoop({
  driver,
  tools: [look],
  hooks: [hook],
  budget: { maxSteps: 5, maxSeconds: 20 },
});
const runtime = new SessionRuntime({ store: new MemorySessionStore(), agents: { agent } });
const definition = { name: 'agent' };

const told = () => AgentState.empty().withUserMessage('What is there?');
const shown = ({ status, finalResponse, errors }: AgentState) => ({
  status,
  answer: finalResponse,
  errors: errors.map(({ message }) => message),
});

const ACTIONS: Readonly<Record<string, (request: Request, sessionId: string) => Promise<unknown>>> = {
  run: async () => shown(await agent.run(told())),
  signal: async (request) => shown(await agent.run(told(), { signal: request.signal })),
  stream: async () => {
    const types = new Set<string>();
    const stream = agent.stream(told());
    for await (const { type } of stream) types.add(type);
    return { ...shown(await stream.result), hasText: types.has('inference-delta') };
  },
  create: async (_, sessionId) => (await runtime.create({ definition, sessionId })).sessionId,
  say: async (_, sessionId) => {
    const { state } = await runtime.execute(sessionId, sendMessage('What is there?'));
    return shown(state);
  },
  get: async (_, sessionId) => {
    const { state } = await runtime.get(sessionId);
    return { ...shown(state), messages: state.messages.length };
  },
};

// oxlint-disable-next-line import/no-default-export -- what Workers look for
export default {
  async fetch(request: Request): Promise<Response> {
    const [, action = '', sessionId = ''] = new URL(request.url).pathname.split('/');
    try {
      return Response.json(await ACTIONS[action]?.(request, sessionId));
    } catch (error) {
      return Response.json({ error: String(error) }, { status: 500 });
    }
  },
};
