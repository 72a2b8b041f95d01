import { createAgentLoop, sendMessage, SessionRuntime, tool } from '@holdfast/core';
import { expect, test } from 'vitest';
import { headerFromItem } from '../../src/header/header-item.ts';
import { itemsOf } from '../support/stored-items.ts';
import { testDatabase } from '../support/test-database.ts';

const database = testDatabase();
const ID = 'a';
const LENGTHS = [100, 5_000, 6_000, 100, 100, 5_000];

test.each([200, 1])(
  'the size of a head decides whether the header or the log holds it (compacting after %i)',
  async (compactAfterSaves) => {
    const table = await database.newTable();
    const store = await database.newStore({ table, compactAfterSaves });
    const other = await database.newStore({ table });
    const save = store.save.bind(store);
    const places: string[] = [];
    store.save = async (session, options) => {
      const saved = await save(session, options);
      await expect(other.load(ID)).resolves.toEqual(saved);
      const [header = {}] = await itemsOf(database.client(), table, ID);
      places.push((await headerFromItem(header)).head === undefined ? 'log' : 'header');
      return saved;
    };
    let answers = 0;
    const agent = createAgentLoop({
      driver: {
        async infer() {
          const length = LENGTHS[answers++];
          if (length === undefined) return { content: [{ type: 'text', text: 'Done.' }] };
          const call = { type: 'tool-call', toolCallId: `c${answers}`, toolName: 'look', input: {} } as const;
          return { content: [{ type: 'text', text: 'x'.repeat(length) }, call] };
        },
      },
      tools: [
        tool({
          name: 'look',
          description: 'Looks.',
          inputSchema: { type: 'object' },
          execute: () => 'Seen.',
        }),
      ],
    });
    const runtime = new SessionRuntime({ store, agents: { looker: agent } });
    await runtime.create({ sessionId: ID, definition: { name: 'looker' } });
    await runtime.execute(ID, sendMessage('Look.'));
    // The requests that begin the run, those of each response and each tool, and those that end it.
    const expected = LENGTHS.flatMap((length) => [length > 4_096 ? 'log' : 'header', 'header']);
    expect(places).toEqual(['header', ...expected, 'header']);
  },
);
