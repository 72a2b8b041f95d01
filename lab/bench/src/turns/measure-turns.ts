import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RedisServer } from 'test-servers';
import { bestTenth, median } from '../measure.ts';
import { shuffler } from '../shuffle.ts';
import { describeServer, withRedis } from '../stores/redis-server.ts';
import { TURNS, type Conversation, type TurnName, type TurnPeer } from './turn-peers.ts';

/** The messages of a conversation before its first timed turn. */
export const SIZES = [10, 1_000, 5_000] as const;
type Size = (typeof SIZES)[number];

/** A conversation grows with each turn. After so many turns, a new one replaces it. */
const TURNS_EACH = 4;

export interface TurnOptions {
  readonly names: readonly TurnName[];
  /** Conversations one after the other, of each size; half as many again before, to warm up. */
  readonly conversations: number;
  /** Orders the turns. */
  readonly seed: number;
}

/** Milliseconds of a turn: the best tenth, and the median. */
interface TurnTimes {
  readonly best: number;
  readonly median: number;
}

/** The cost of turns, by name and size. */
export interface TurnCosts {
  readonly server: string;
  readonly times: Readonly<Record<string, TurnTimes>>;
}

interface Subject {
  readonly name: TurnName;
  readonly size: Size;
  readonly peer: TurnPeer;
  readonly times: number[];
}

/** The key of the times of a subject. */
export function turnKey(name: TurnName, size: Size): string {
  return `${name} ${size}`;
}

/** Lets all peers take turns in short and in long conversations, in another order each time. */
export function measureTurns({ names, conversations, seed }: TurnOptions): Promise<TurnCosts> {
  return withRedis(async (server, folder) => {
    const peers = await opened(names, server, folder);
    const subjects = peers.flatMap(([name, peer]) =>
      SIZES.map((size): Subject => ({ name, size, peer, times: [] })),
    );
    const shuffle = shuffler(seed);
    for (let count = -conversations / 2; count < conversations; count++) {
      await takeTurns(subjects, shuffle, count >= 0);
    }
    for (const [, peer] of peers) await peer.close();
    const times = subjects.map(({ name, size, times }) => [turnKey(name, size), timesOf(times)]);
    return { server: await describeServer(server), times: Object.fromEntries(times) };
  });
}

async function opened(
  names: readonly TurnName[],
  server: RedisServer,
  folder: string,
): Promise<readonly (readonly [TurnName, TurnPeer])[]> {
  const peers = [];
  for (const [index, name] of names.entries()) {
    const place = { url: server.url(index), folder: join(folder, name) };
    mkdirSync(place.folder);
    peers.push([name, await TURNS[name](place)] as const);
  }
  return peers;
}

async function takeTurns(
  subjects: readonly Subject[],
  shuffle: <T>(things: readonly T[]) => T[],
  isTimed: boolean,
): Promise<void> {
  const begun: (readonly [Subject, Conversation])[] = [];
  for (const subject of subjects) begun.push([subject, await subject.peer.begin(subject.size)]);
  globalThis.gc?.();
  for (let turn = 0; turn < TURNS_EACH; turn++) {
    for (const [{ times }, conversation] of shuffle(begun)) {
      const time = await timeOf(conversation);
      if (isTimed) times.push(time);
    }
  }
  for (const [, conversation] of begun) await conversation.close();
}

/** @throws Error when the model's answer is not there. */
async function timeOf(conversation: Conversation): Promise<number> {
  const started = performance.now();
  const text = await conversation.turn();
  const time = performance.now() - started;
  if (text !== 'done') throw new Error(`A turn ended with ${JSON.stringify(text)}.`);
  return time;
}

function timesOf(times: readonly number[]): TurnTimes {
  return { best: bestTenth(times), median: median(times) };
}
