import { median } from '../measure.ts';
import { machine, measured } from '../process.ts';
import { inUnit, reportRows, reportTable, type Row } from '../report.ts';
import { targetRow } from '../targets.ts';
import type { ChatCosts, ChatOptions } from './measure-chat.ts';

interface ChatBenchOptions {
  /** Default 3, and 1 in a quick run. */
  readonly rounds?: number | undefined;
  readonly isQuick: boolean;
}

const WORKER = new URL('./chat-worker.ts', import.meta.url);

/** Takes turns in chats through BullMQ and Redis, and prints what they cost. Returns the targets. */
export async function benchChat({ isQuick, rounds = isQuick ? 1 : 3 }: ChatBenchOptions): Promise<Row[]> {
  console.log(`\n# Chat\n\n${rounds} rounds, ${machine()}`);
  const all: ChatCosts[] = [];
  const notes = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    const task: ChatOptions = { turns: isQuick ? 100 : 300 };
    const what = `chat, round ${round + 1} of ${rounds}`;
    const costs = await measured<ChatCosts>(what, WORKER, task, notes);
    if (costs) all.push(costs);
  }
  for (const { server } of all) notes.add(`Server: ${server}`);
  const targets = [
    targetRow(
      'first token',
      all.map(({ chat }) => chat.p50),
    ),
    targetRow(
      'first token late',
      all.map(({ chat }) => chat.p99),
    ),
    targetRow(
      'turn commands',
      all.map(({ commands }) => commands),
    ),
  ];
  reportRows('Targets', targets);
  const rows = (['chat', 'streamText'] as const).map((name) => {
    const cell = (metric: 'p50' | 'p99'): string =>
      inUnit(median(all.map((costs) => costs[name][metric])), 'ms');
    return [name, cell('p50'), cell('p99')];
  });
  reportTable('From a request to its first token', ['peer', 'p50', 'p99'], rows);
  console.log(`\n${machine()}`);
  for (const note of notes) console.log(`\n${note}`);
  return targets;
}
