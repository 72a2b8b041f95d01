import assert from 'node:assert/strict';
import { AgentState, type JsonObject } from '@holdfast/core';
import fc from 'fast-check';
import { test } from 'vitest';
import { PatchedState } from '../../src/channel/patched-state.ts';
import { StatePatchWriter } from '../../src/channel/state-patch.ts';
import { cases } from '../../../../tools/config/vitest.properties.ts';
import { busyHistories, histories, play } from '../support/arbitraries.ts';

/** After a state: publish it, skip it, or begin a series at it or at the base before. */
type Turn = 'publish' | 'skip' | 'save' | 'repeat';

const turns = fc.array(
  fc.constantFrom<Turn>('publish', 'publish', 'publish', 'publish', 'skip', 'skip', 'save', 'repeat'),
  { minLength: 60, maxLength: 60 },
);

/** A writer in one process and a reader in another, which begin at the same saved state. */
class Pair {
  private base: AgentState;
  private readonly writer: StatePatchWriter;
  private reader: PatchedState;
  /** Whether patches cross processes as text, or are passed on within one. */
  private readonly isText: boolean;

  constructor(base: AgentState, isText: boolean) {
    this.base = base;
    this.writer = new StatePatchWriter(base);
    this.reader = loaded(base);
    this.isText = isText;
  }

  /** Takes the writer's next state. Returns the state of the reader, if it should be the same. */
  take(state: AgentState, turn: Turn): AgentState | undefined {
    if (turn === 'skip') return undefined;
    if (turn === 'repeat') this.restart(this.base);
    this.publish(state);
    const shown = this.reader.state;
    if (turn === 'save') this.restart(state);
    return shown;
  }

  private restart(base: AgentState): void {
    this.base = base;
    this.writer.restart(base);
    this.reader = loaded(base);
  }

  private publish(state: AgentState): void {
    const patch = this.writer.write(state);
    if (patch) this.reader = this.reader.with(this.isText ? copied(patch) : patch);
  }
}

function copied(patch: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(patch)) as JsonObject;
}

/** As the store returns it to another process. */
function loaded(state: AgentState): PatchedState {
  return new PatchedState(AgentState.fromJSON(JSON.parse(JSON.stringify(state))));
}

test.each([
  ['any history', histories],
  ['many tool calls', busyHistories],
])('a reader that applies the patches has the state of the writer: %s', (_, moves) => {
  fc.assert(
    fc.property(moves, turns, fc.boolean(), (history, plan, isText) => {
      const [first, ...states] = play(history);
      const pair = new Pair(first as AgentState, isText);
      for (const [index, state] of states.entries()) {
        const shown = pair.take(state, plan[index % plan.length] ?? 'publish');
        assert.deepStrictEqual(shown ?? state, state);
      }
    }),
    cases(400),
  );
});
