import { differences, notedFor, type NotedDifference } from './differences.ts';
import { providers } from './providers/index.ts';
import { scenarios } from './scenarios/index.ts';
import { MODES } from './runs/outcome.ts';
import { isSupported, type Scenario } from './scenarios/scenario.ts';
import type { Provider } from './wire.ts';

/** Where the table stands in the README of the driver. */
export const README = new URL('../../../packages/driver-ai-sdk/README.md', import.meta.url);
const BEGIN = '<!-- providers: pnpm --filter providers run write -->';
const END = '<!-- end of providers -->';

/** Returns the text with the current table between its markers. @throws when it has no markers. */
export function withTable(text: string): string {
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin === -1 || end < begin) throw new Error('The markers of the table are missing.');
  return `${text.slice(0, begin + BEGIN.length)}\n\n${table()}\n\n${text.slice(end)}`;
}

function table(): string {
  const names = providers.map(({ name }) => name);
  const rows = scenarios.map((scenario) => [scenario.name, ...providers.map((each) => cell(each, scenario))]);
  const lines = [['', ...names], ['---', ...names.map(() => ':-:')], ...rows].map(lineOf);
  return `${lines.join('\n')}\n\n${notes().join('\n')}`;
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function cell({ name, features }: Provider, scenario: Scenario): string {
  if (!isSupported(scenario, features)) return '–';
  const numbers = new Set(
    MODES.flatMap((mode) => notedFor(name, scenario.name, mode)).map(({ reason }) => reason.number),
  );
  return numbers.size === 0 ? '✓' : [...numbers].join(', ');
}

/** The reasons of the noted differences, in the order of their numbers. */
function notes(): readonly string[] {
  const reasons = new Set(differences.map(({ reason }: NotedDifference) => reason));
  return [...reasons].toSorted((a, b) => a.number - b.number).map(({ number, text }) => `${number}. ${text}`);
}
