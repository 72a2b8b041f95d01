import { join } from 'node:path';
import { createAgentLoop, MemorySessionStore, sendMessage, SessionRuntime } from '@holdfast/core';
import { MemorySessionChannel, type SessionChannel } from '@holdfast/core/channel';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { RedisSessionChannel } from '@holdfast/store-redis';
import { SqliteSessionChannel } from '@holdfast/store-sqlite';
import { streamText } from 'ai';
import { instantModel } from '../loop/instant-model.ts';
import { Job } from '../loop/job.ts';
import type { StorePlace } from '../stores/store-peer.ts';

/** `streamText` answers a request of a page. The others are workers, with a channel of this kind. */
export type PublishName = 'streamText' | ChannelName;
export type ChannelName = 'memory' | 'redis' | 'sqlite';

export const CHANNEL_NAMES: readonly ChannelName[] = ['memory', 'redis', 'sqlite'];
export const PUBLISH_NAMES: readonly PublishName[] = ['streamText', ...CHANNEL_NAMES];

/** The job: one streamed response. */
export interface StreamJob {
  readonly pieces: readonly string[];
  /** The duration of the stream; 0 for a model that responds at once. */
  readonly seconds: number;
}

/** A program that does the job. */
export interface PublishPeer {
  readonly stream: (job: StreamJob) => Promise<void>;
  /** Does the same without the channel. Absent without a channel. */
  readonly streamAlone?: (job: StreamJob) => Promise<void>;
  close(): Promise<void>;
}

const AGENT = 'bench';

/** Opens a peer. Its channel is at a place of its own. */
export async function openPublishPeer(name: PublishName, place: StorePlace): Promise<PublishPeer> {
  if (name === 'streamText') return { stream: streamToPage, close: async () => {} };
  const channel = await openChannel(name, place);
  return {
    stream: (job) => work(job, channel),
    streamAlone: (job) => work(job, undefined),
    close: () => channel.close(),
  };
}

async function openChannel(name: ChannelName, { url, folder }: StorePlace): Promise<SessionChannel> {
  switch (name) {
    case 'memory':
      return new MemorySessionChannel();
    case 'redis':
      return RedisSessionChannel.open({ url });
    case 'sqlite':
      return SqliteSessionChannel.open({ path: join(folder, 'channel.db') });
  }
}

async function streamToPage({ pieces, seconds }: StreamJob): Promise<void> {
  const { system, user: prompt } = new Job({ steps: 0 });
  const model = instantModel(new Job({ steps: 0 }), pieces, seconds);
  const { body } = streamText({ model, system, prompt }).toUIMessageStreamResponse();
  const reader = body?.getReader();
  let bytes = 0;
  for (let read = await reader?.read(); read?.value; read = await reader?.read()) bytes += read.value.length;
  if (bytes < pieces.join('').length) throw new Error(`Only ${bytes} bytes came.`);
}

async function work({ pieces, seconds }: StreamJob, channel: SessionChannel | undefined): Promise<void> {
  const driver = aiSdkDriver({ model: instantModel(new Job({ steps: 0 }), pieces, seconds) });
  const agents = { [AGENT]: createAgentLoop({ driver }) };
  const store = new MemorySessionStore();
  const runtime = new SessionRuntime({ store, agents, ...(channel && { channel }) });
  const { sessionId } = await runtime.create({ definition: { name: AGENT } });
  let deltas = 0;
  // Without a listener and a channel, the driver would not stream.
  const onEvent = ({ type }: { readonly type: string }): void =>
    void (type === 'inference-delta' && deltas++);
  await runtime.execute(sessionId, sendMessage(new Job({ steps: 0 }).user), { onEvent });
  if (deltas !== pieces.length) throw new Error(`${deltas} deltas came, not ${pieces.length}.`);
}
