import { createAgentLoop, SessionRuntime } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { BullmqEngine } from '@holdfast/runner-bullmq';
import { RedisSessionChannel, RedisSessionStore } from '@holdfast/store-redis';
import { chatHandler } from '@holdfast/ui-ai-sdk/handler';
import { streamText } from 'ai';
import { Redis } from 'ioredis';
import { percentile } from '../measure.ts';
import { instantModel } from '../peers/instant-model.ts';
import { Job } from '../peers/job.ts';
import { describeServer, withRedis } from '../stores/redis-server.ts';

export interface ChatOptions {
  /** The timed turns; half as many before, to warm up. */
  readonly turns: number;
}

/** Milliseconds from a request to its first token. */
interface FirstToken {
  readonly p50: number;
  readonly p99: number;
}

export interface ChatCosts {
  readonly server: string;
  readonly chat: FirstToken;
  readonly streamText: FirstToken;
  /** The commands of Redis that a turn costs, those inside of scripts too. */
  readonly commands: number;
}

/** The chats that take turns, so that none gets long. */
const CHATS = 10;
const AGENT = 'bench';
const UNLIMITED = 1_000_000;
const model = instantModel(new Job({ steps: 0 }), ['one ', 'two ', 'three ', 'four ', 'five']);

/**
 * Sends messages to chats one after the other. A web process and a worker, here in one process, have connections of their
 * own, and meet in Redis only.
 */
export function measureChat({ turns }: ChatOptions): Promise<ChatCosts> {
  return withRedis(async (server) => {
    const url = server.url();
    const [web, worker, counter] = [await opened(url), await opened(url), new Redis(url)];
    const served = await worker.engine.serve((id, options) => worker.runtime.advance(id, options));
    const { runtime, channel, engine } = web;
    const handler = chatHandler({
      runtime,
      channel,
      engine,
      agent: AGENT,
      authorize: () => ({ owner: 'bench' }),
      limits: { requestsPerMinute: UNLIMITED },
    });
    const chat = (turn: number): Promise<Response> => handler(messageTo(turn));
    const plain = async (): Promise<Response> =>
      streamText({ model, prompt: 'Continue.' }).toUIMessageStreamResponse();
    for (let turn = -turns / 2; turn < 0; turn++) await firstTokens([chat, plain], turn);
    const before = await commandsOf(counter);
    const times: number[][] = [];
    for (let turn = 0; turn < turns; turn++) times.push(await firstTokens([chat, plain], turn));
    const commands = ((await commandsOf(counter)) - before) / turns;
    await served.stop();
    counter.disconnect();
    for (const each of [web, worker])
      await Promise.all([each.engine.close(), each.channel.close(), each.store.close()]);
    const [chatTime, plainTime] = [0, 1].map((peer) => timeOf(times.map((each) => each[peer] ?? NaN)));
    if (!chatTime || !plainTime) throw new Error('Nothing was measured.');
    return { server: await describeServer(server), chat: chatTime, streamText: plainTime, commands };
  });
}

async function opened(url: string) {
  const store = await RedisSessionStore.open({ url });
  const channel = await RedisSessionChannel.open({ url });
  const agents = { [AGENT]: createAgentLoop({ driver: aiSdkDriver({ model }) }) };
  const runtime = new SessionRuntime({ store, channel, agents });
  const engine = new BullmqEngine({ connection: { url }, onWarning: () => undefined });
  return { store, channel, runtime, engine };
}

function messageTo(turn: number): Request {
  const message = { id: `message ${turn}`, role: 'user', parts: [{ type: 'text', text: 'Continue.' }] };
  const body = { id: `chat ${Math.abs(turn) % CHATS}`, trigger: 'submit-message', message };
  const headers = { 'content-type': 'application/json' };
  return new Request('http://bench/api/chat', { method: 'POST', headers, body: JSON.stringify(body) });
}

async function firstTokens(
  peers: readonly ((turn: number) => Promise<Response>)[],
  turn: number,
): Promise<number[]> {
  const times: number[] = [];
  for (const respond of peers) times.push(await firstTokenOf(() => respond(turn)));
  return times;
}

/** Reads a response to its end. @throws Error when it has no text. */
async function firstTokenOf(respond: () => Promise<Response>): Promise<number> {
  const started = performance.now();
  const { body } = await respond();
  let first: number | undefined;
  let text = '';
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (first === undefined && text.includes('"text-delta"')) first = performance.now() - started;
  }
  if (first === undefined) throw new Error(`A response has no text: ${text}`);
  return first;
}

async function commandsOf(client: Redis): Promise<number> {
  return Number(/total_commands_processed:(\d+)/.exec(await client.info('stats'))?.[1]);
}

function timeOf(values: readonly number[]): FirstToken {
  return { p50: percentile(values, 50), p99: percentile(values, 99) };
}
