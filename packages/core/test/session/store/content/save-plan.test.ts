import assert from 'node:assert/strict';
import { AgentSession, AgentState, assistantMessage, hasErrorCode, userMessage } from '@holdfast/core';
import {
  applySavePlan,
  planSave,
  restoreSession,
  type SessionContent,
  type SavePlan,
} from '@holdfast/core/store';
import { steppedClock } from '@holdfast/core/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../../../../../tools/config/vitest.properties.ts';
import { histories, play, START } from '../../../support/arbitraries.ts';
import { does, scriptedLoop, told } from '../../../support/builders.ts';

const bytesOf = ({ head, values, lists }: SavePlan): number =>
  [head, ...values.values(), ...lists.flatMap(({ append }) => append)].reduce(
    (sum, text) => sum + Buffer.byteLength(text ?? ''),
    0,
  );

/** Saves session after session, as one process does. */
class Saver {
  saved: SessionContent | undefined;
  session: AgentSession;
  plan: SavePlan | undefined;
  private isKnown = false;

  constructor(state: AgentState) {
    const clock = steppedClock();
    this.session = AgentSession.create({ definition: { name: 'a', systemPrompt: 'Be kind.' }, state, clock });
    this.save(state);
  }

  save(state: AgentState): SavePlan {
    const next = this.session.withState(state);
    const { version } = next.revision;
    const saved = next.withRevision({ incarnation: 'i', version: version + 1 }, START);
    const plan = planSave(saved, this.isKnown ? this.session : undefined);
    assert.equal(plan.isWhole, !this.isKnown);
    this.saved = applySavePlan(this.saved, plan);
    [this.session, this.plan, this.isKnown] = [saved, plan, true];
    return plan;
  }

  /** As another process finds it. */
  read(saved = this.saved): AgentSession {
    const { info, revision } = this.session;
    return restoreSession(saved as SessionContent, info, revision.incarnation);
  }

  /** Goes on as another process. */
  restore(): AgentState {
    const restored = this.read();
    assert.deepStrictEqual(restored, this.session);
    this.session = restored;
    return restored.state;
  }
}

test('a session is restored after any changes between saves, in the same and in another process', () => {
  fc.assert(
    fc.property(histories, fc.infiniteStream(fc.boolean()), (moves, restarts) => {
      let saver: Saver | undefined;
      play(moves, (state) => {
        if (saver === undefined) saver = new Saver(state);
        else saver.save(state);
        const isRestart = restarts.next().value;
        if (isRestart) return saver.restore();
        assert.deepStrictEqual(saver.read(), saver.session);
        return state;
      });
    }),
    cases(400),
  );
});

describe('the cost of a save is that of the added parts', () => {
  const longConversation = (messages: number): AgentState =>
    AgentState.empty().withMessages(
      Array.from({ length: messages }, (_, n) =>
        (n % 2 === 0 ? userMessage : assistantMessage)('m'.repeat(1_000)),
      ),
    );

  test.each(['in one process', 'in a new process each time'])(
    '%s, at 10 messages and at 5 000',
    async (way) => {
      const sizes: number[] = [];
      for (const count of [10, 5_000]) {
        const saver = new Saver(longConversation(count));
        const script = [...Array.from({ length: 3 }, () => ({ calls: { work: { n: 1 } } })), 'Done.'];
        const loop = scriptedLoop(script, { tools: [does('work')] });
        const current = (): AgentState => (way === 'in one process' ? saver.session.state : saver.restore());
        const plans = [saver.save(current().withUserMessage('m'.repeat(1_000)))];
        for (let steps = 0; steps < 4; steps++) {
          for await (const state of loop.iterate(current())) {
            plans.push(saver.save(state));
            break;
          }
        }
        expect(saver.session.state.messages.last).toMatchObject({ content: [{ text: 'Done.' }] });
        const grown = plans.flatMap(({ lists }) => lists).filter(({ name }) => name !== 'steps');
        expect(grown.every(({ keep }) => keep >= count)).toBe(true);
        sizes.push(plans.reduce((sum, plan) => sum + bytesOf(plan), 0));
      }
      const [small, large] = sizes as [number, number];
      expect(large / small).toBeLessThan(1.1);
    },
  );
});

describe('invalid stored content is refused', () => {
  const saver = new Saver(told());
  const saved = saver.saved as SessionContent;
  const without = <T>(map: ReadonlyMap<string, T>, name: string): Map<string, T> =>
    new Map([...map].filter(([key]) => key !== name));
  const table: Record<string, SessionContent> = {
    'a head that is no JSON': { ...saved, head: '{' },
    'a head that is none': { ...saved, head: '{"document":{}}' },
    'a value that is gone': { ...saved, values: without(saved.values, 'definition') },
    'a list that is gone': { ...saved, lists: without(saved.lists, 'messages:messages') },
    'a list that is too long': {
      ...saved,
      lists: new Map([['messages:messages', [...(saved.lists.get('messages:messages') ?? []), '{}']]]),
    },
    'an element that is no JSON': { ...saved, lists: new Map([['messages:messages', ['x']]]) },
    'an element that is no message': { ...saved, lists: new Map([['messages:messages', ['7']]]) },
  };
  test.each(Object.entries(table))('%s', (_, broken) => {
    let error: unknown;
    try {
      saver.read(broken);
    } catch (thrown) {
      error = thrown;
    }
    expect(hasErrorCode(error, 'STATE_FORMAT')).toBe(true);
  });
});
