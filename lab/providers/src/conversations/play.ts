import type { Driver } from '@holdfast/core/driver';
import { aiSdkDriver, type AiSdkDriverOptions } from '@holdfast/driver-ai-sdk';
import { PIXEL } from '../scenarios/tools.ts';
import type { Arena } from './arena.ts';
import { playSession } from './session-conversation.ts';
import { Stage, type Played } from './stage.ts';
import { playStates } from './state-conversation.ts';

/** The number of a conversation: `round` counts the conversations that begin with the same server. */
export function seedOf(round: number, server: number): number {
  return round * 100 + server;
}

/** Plays the conversation with this number. The same number is always the same conversation, until the code changes. */
export async function play(arena: Arena, driver: Driver, seed: number): Promise<Played> {
  const profile = arena.profiles[seed % 100];
  if (profile === undefined) throw new Error(`No server has the number ${seed % 100}.`);
  const stage = new Stage(arena, driver, seed, profile);
  const isSession = Math.floor(seed / 100) % 2 === 1;
  await (isSession ? playSession(stage) : playStates(stage));
  return stage.played();
}

/** A driver that calls the servers of an arena. Its downloads find each file but those that are gone. */
export function arenaDriver({ registry, warnings }: Pick<Arena, 'registry' | 'warnings'>): Driver {
  const onWarning: AiSdkDriverOptions['onWarning'] = (warning) => {
    if (warning.type === 'other') warnings.push(warning.message);
  };
  return aiSdkDriver({ registry, maxRetries: 0, download, onWarning });
}

const download: NonNullable<AiSdkDriverOptions['download']> = ({ url }) =>
  url.pathname.includes('gone')
    ? Promise.reject(new Error('The server of the file responded with status 404.'))
    : Promise.resolve({ data: Buffer.from(PIXEL.base64, 'base64'), mediaType: 'image/png' });
