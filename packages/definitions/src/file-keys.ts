import type { AgentDefinition, BudgetLimits, LlmConfig } from '@holdfast/core';
import type { Path } from './source-tree.ts';

/** The keys of a file: those of a definition, with `model` as short for `llmConfig.model` and a deadline as text. */
interface FileDefinition extends Required<Omit<AgentDefinition, 'llmConfig' | 'budget'>> {
  readonly model: string;
  readonly llmConfig: Required<LlmConfig>;
  readonly budget: Required<Omit<BudgetLimits, 'deadline'>> & { readonly deadline: string };
}

/** All keys, each with an example value for advice. The type makes the compiler report a missing key. */
const EXAMPLE: FileDefinition = {
  name: 'writer',
  version: '1.0',
  description: 'Writes and improves texts.',
  label: 'Writer',
  systemPrompt: 'You write well.',
  model: 'openai:gpt-5',
  llmConfig: {
    model: 'openai:gpt-5',
    maxOutputTokens: 4000,
    temperature: 0.2,
    topP: 0.9,
    topK: 40,
    presencePenalty: 0.1,
    frequencyPenalty: 0.1,
    stopSequences: ['END'],
    seed: 1,
    reasoning: 'low',
    providerOptions: { openai: { serviceTier: 'flex' } },
  },
  tools: ['search', 'read'],
  toolsDeny: ['delete'],
  capabilities: { summary: { maxTokens: 8000 } },
  budget: {
    maxSteps: 20,
    maxTokens: 100_000,
    maxSeconds: 60,
    maxCost: 0.5,
    deadline: '2027-01-31T18:00:00+01:00',
  },
  metadata: { team: 'docs' },
};

type Keys = Readonly<Record<string, unknown>>;
const TOP: Keys = { ...EXAMPLE };
const GROUPS: ReadonlyMap<string, Keys> = new Map<string, Keys>([
  ['llmConfig', { ...EXAMPLE.llmConfig }],
  ['budget', { ...EXAMPLE.budget }],
]);

/** The keys of objects. Each invalid member is a problem of its own. */
export const OBJECT_KEYS: ReadonlySet<string> = new Set([...GROUPS.keys(), 'capabilities']);
/** The keys of lists of names. Each invalid element is a problem of its own. */
export const LIST_KEYS: ReadonlySet<string> = new Set(['tools', 'toolsDeny']);

/** The key for each name that is common in other agent files, or a common mistake. */
const HABITS: ReadonlyMap<string, string> = new Map([
  ['disallowedtools', 'toolsDeny'],
  ['displayname', 'label'],
  ['instructions', 'systemPrompt'],
  ['llmconfig.maxtokens', 'llmConfig.maxOutputTokens'],
  ['maxturns', 'budget.maxSteps'],
  ['prompt', 'systemPrompt'],
  ['steps', 'budget.maxSteps'],
  ['title', 'label'],
]);

/** True for a known key. The caller does not pass members of `capabilities` and `metadata`, whose names are free. */
export function isKnownKey(path: Path): boolean {
  return Object.hasOwn(siblingsOf(path), String(path.at(-1)));
}

/** Advice for an unknown key: the nearest known key, or a list of the known keys. */
export function adviceForUnknown(path: Path): string {
  const nearest = nearestKey(path);
  if (nearest !== undefined) return `Did you mean ${nearest}?`;
  const free = path.length === 1 ? '; put your own data under metadata' : '';
  return `Known keys: ${Object.keys(siblingsOf(path)).join(', ')}${free}.`;
}

/** Advice for an invalid value: an example in YAML or in JSON. */
export function adviceForValue(path: Path, isJson: boolean): string {
  const depth = GROUPS.has(String(path[0])) && path.length > 1 ? 2 : 1;
  const known = path.slice(0, depth);
  const key = String(known.at(-1));
  const group = depth === 1 ? GROUPS.get(key) : undefined;
  const value = group ? Object.fromEntries(Object.entries(group).slice(0, 1)) : siblingsOf(known)[key];
  const note = key === 'tools' ? ' Omit tools to allow all tools, or write [] to allow none.' : '';
  return `For example ${isJson ? JSON.stringify(key) : key}: ${JSON.stringify(value)}.${note}`;
}

function siblingsOf(path: Path): Keys {
  return (path.length > 1 ? GROUPS.get(String(path[0])) : TOP) ?? TOP;
}

function nearestKey(path: Path): string | undefined {
  const name = plain(String(path.at(-1)));
  const habit = HABITS.get(path.map((key) => plain(String(key))).join('.')) ?? HABITS.get(name);
  if (habit !== undefined) return habit;
  const prefix = path.slice(0, -1).map((key) => `${key}.`);
  const near = Object.keys(siblingsOf(path))
    .map((key) => ({ key: `${prefix.join('')}${key}`, distance: distance(name, plain(key)) }))
    .filter((candidate) => candidate.distance <= Math.floor(name.length / 3))
    .toSorted((left, right) => left.distance - right.distance);
  return near[0]?.key ?? elsewhere(name);
}

/** Finds a key at another level: for `temperature`, `llmConfig.temperature`. */
function elsewhere(name: string): string | undefined {
  for (const key of Object.keys(TOP)) if (plain(key) === name) return key;
  for (const [group, keys] of GROUPS) {
    for (const key of Object.keys(keys)) if (plain(key) === name) return `${group}.${key}`;
  }
  return undefined;
}

/** Normalizes a key, so that `max_steps`, `max-steps` and `MaxSteps` equal `maxSteps`. */
function plain(key: string): string {
  return key.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** The edit distance of two words: the number of inserted, deleted, replaced or swapped adjacent letters. */
function distance(from: string, to: string): number {
  if (from.length > 2 * to.length) return Infinity;
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const change = at(row, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwap = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swap = isSwap ? at(before, j - 2) + 1 : Infinity;
      next.push(Math.min(change, swap, at(row, j) + 1, at(next, j - 1) + 1));
    }
    [before, row] = [row, next];
  }
  return at(row, to.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
