import { AgentState } from '@holdfast/core';
import { toUIMessages } from '@holdfast/ui-ai-sdk';
import type { UIMessage } from 'ai';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../tools/config/vitest.properties.ts';
import { Page } from '../support/page.ts';
import { continuedFrom, recordedSession, type LiveState } from '../support/recorded-session.ts';
import { scripts } from '../support/scripts.ts';

/** How pages follow: the states that they skip, and those before which they connect again. */
const walks = fc.array(fc.constantFrom('shows', 'shows', 'skips', 'connects'), {
  minLength: 1,
  maxLength: 20,
});

/** Pages that follow a session, one for the message of each execution. */
class Pages {
  readonly all = new Map<string, Page>();

  async follow(states: readonly LiveState[], walk: readonly string[]): Promise<void> {
    for (const [index, live] of states.entries()) {
      const turn = walk[index % walk.length];
      const wanted = turn === 'skips' ? undefined : openMessage(live);
      if (wanted === undefined) continue;
      const page = this.all.get(wanted.id) ?? new Page();
      this.all.set(wanted.id, page);
      if (turn === 'connects') await page.reconnect();
      await page.show(wanted);
    }
  }

  /** Shows the last state. */
  async finish(last: LiveState): Promise<readonly Page[]> {
    const wanted = openMessage(last);
    for (const [id, page] of this.all) {
      if (wanted?.id === id) await page.show(wanted);
      await page.reconnect();
    }
    return [...this.all.values()];
  }
}

function openMessage({ state, partial }: LiveState): UIMessage | undefined {
  return toUIMessages(state, { partial }).find(({ id }) => id === state.executionId);
}

function lastOf(states: readonly LiveState[]): LiveState {
  const last = states.at(-1);
  if (last === undefined) throw new Error('The session has no states.');
  return last;
}

function indexIn(list: readonly unknown[], share: number): number {
  return Math.floor(share * list.length);
}

describe('a page that follows a session', () => {
  test('shows its states, over any number of streams', async () => {
    const holds = fc.asyncProperty(scripts, walks, async (script, walk) => {
      const states = await recordedSession(script);
      const pages = new Pages();
      await pages.follow(states, walk);
      const finished = await pages.finish(lastOf(states));
      expect(finished.map(({ had }) => had)).toEqual(finished.map(({ expected }) => expected));
      expect(finished.map(({ restarts }) => restarts)).toEqual(finished.map(() => 0));
    });
    await fc.assert(holds, cases(150));
  });

  test('shows the work of another worker in place of what was not saved', async () => {
    const share = fc.double({ min: 0, max: 0.999, noNaN: true });
    const holds = fc.asyncProperty(
      scripts,
      scripts,
      walks,
      share,
      share,
      async (script, other, walk, a, b) => {
        const states = await recordedSession(script);
        const end = indexIn(states, a);
        const saved = states.slice(0, end + 1).filter(({ isSaved }) => isSaved);
        const from = saved[indexIn(saved, b)];
        if (!from?.state.hasActiveExecution) return;
        const pages = new Pages();
        await pages.follow(states.slice(0, end + 1), walk);
        const next = await continuedFrom(from.state, other);
        await pages.follow(next, walk);
        const finished = await pages.finish(lastOf(next));
        expect(finished.map(({ had }) => had)).toEqual(finished.map(({ expected }) => expected));
      },
    );
    await fc.assert(holds, cases(150));
  });
});

describe('the messages of a session', () => {
  test('are the same in every process, and however the state has grown', async () => {
    const holds = fc.asyncProperty(scripts, async (script) => {
      for (const { state } of await recordedSession(script)) {
        const restored = AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
        expect(toUIMessages(restored)).toEqual(toUIMessages(state));
      }
    });
    await fc.assert(holds, cases(60));
  });

  test('stay when the record of their execution goes', async () => {
    const holds = fc.asyncProperty(scripts, async (script) => {
      const ended = new Map<string, readonly UIMessage[]>();
      for (const { state } of await recordedSession(script)) {
        const messages = toUIMessages(state, { metadataOf: () => undefined });
        for (const before of ended.values()) expect(messages.slice(0, before.length)).toEqual(before);
        if (state.executionId && !state.hasActiveExecution) ended.set(state.executionId, messages);
      }
    });
    await fc.assert(holds, cases(60));
  });

  test('have ids of their own', async () => {
    const holds = fc.asyncProperty(scripts, async (script) => {
      const ids = toUIMessages(lastOf(await recordedSession(script)).state).map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    });
    await fc.assert(holds, cases(60));
  });
});
