import type { ChannelHarness } from '@holdfast/conformance';
import type { ChannelEntry, ChannelNews } from '@holdfast/core/channel';
import { RedisSessionChannel, type RedisChannelClient } from '@holdfast/store-redis';
import { newPrefix } from './harness.ts';

/** The time in which a message of a local server arrives, also when the machine is busy. */
const TURN_MS = 5;

/** Creates channels with the options of a client, each under a new prefix. */
export function channelHarness(client: () => RedisChannelClient): ChannelHarness {
  let prefix = '';
  const reopen = async () => {
    const channel = new RedisSessionChannel({ client: client(), prefix });
    return { channel, close: () => channel.close() };
  };
  const create = () => {
    prefix = newPrefix();
    return reopen();
  };
  return { create, reopen, tail: true, turnMilliseconds: TURN_MS };
}

/** An entry with a number. */
export function entry(n: number): ChannelEntry {
  const change = {
    type: 'delta',
    stepId: 's',
    attempt: 1,
    delta: { type: 'text', id: '0', text: '' },
  } as const;
  return { incarnation: 'i', epoch: 1, series: 0, n, base: 1, change };
}

/** A listener that records the numbers of entries, and gaps. It is also the options of its subscription. */
export class Recorder {
  readonly received: (number | 'gap')[] = [];
  private readonly controller = new AbortController();
  readonly signal: AbortSignal = this.controller.signal;

  readonly listener = (news: ChannelNews): void => {
    if (news.type === 'gap') this.received.push('gap');
    else this.received.push(...news.entries.map(({ n }) => n));
  };

  readonly abort = (): void => this.controller.abort();
}
