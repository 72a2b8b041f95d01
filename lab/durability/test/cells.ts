import type { AgentSession } from '@holdfast/core';
import { KINDS, type Kind, type Plan } from '../src/agent.ts';
import { PLACES, type Place } from '../src/faults.ts';
import type { Entry } from '../src/journal.ts';
import type { Treatment } from './judge.ts';
import { OUTAGES, type Outage } from '../src/provider.ts';
import type { World } from './world.ts';

/** How many steps there are, with how many calls each. */
const MODES = { sequential: { steps: 2, calls: 1 }, parallel: { steps: 1, calls: 3 } } as const;

type Mode = keyof typeof MODES;

/** The part of the crash matrix that is tried. */
export interface Scope {
  readonly modes: readonly Mode[];
  readonly places: readonly Place[];
  /** The most visits of a place that are tried: the first, the last, and visits evenly between them. */
  readonly times: number;
  /** The kinds of tools in sessions whose process dies where no tool runs. */
  readonly kindsBetweenTools: readonly Kind[];
  /** The part of the matrix with an outage of the provider. */
  readonly outages: {
    readonly kinds: readonly Kind[];
    readonly places: readonly Place[];
  };
}

const RETRY_PLACES: readonly Place[] = ['before-retry', 'after-retry'];

const BETWEEN_TOOLS: readonly Place[] = [
  'before-claim',
  'after-claim',
  'inference',
  'before-release',
  'after-release',
];

const ALL: Scope = {
  modes: ['sequential', 'parallel'],
  places: PLACES.filter((place) => !RETRY_PLACES.includes(place)),
  times: Infinity,
  kindsBetweenTools: KINDS,
  outages: { kinds: ['once', 'readOnly', 'approval'], places: PLACES },
};

/**
 * A process that dies before a save leaves the same stored session as one that dies in the middle of it. At places where no
 * tool is at work, the kind of a tool matters only when the session waits: for nothing, an approval or an answer.
 */
const NEARLY_ALL: Scope = {
  ...ALL,
  places: ALL.places.filter((place) => place !== 'before-save'),
  times: 3,
  kindsBetweenTools: ['once', 'approval', 'answer'],
  outages: { kinds: ['once'], places: [...RETRY_PLACES, 'mid-save'] },
};

/** The part in which stores differ. */
const MAIN: Scope = {
  modes: ['parallel'],
  places: ['before-effect', 'after-effect', 'mid-save'],
  times: 3,
  kindsBetweenTools: [],
  outages: { kinds: ['once'], places: ['after-retry'] },
};

/** A higher effort tries all parts on each store. Otherwise the first store has nearly all of them, and others the main ones. */
export function scopeOf(effort: number, isFirst: boolean): Scope {
  if (effort > 1) return ALL;
  return isFirst ? NEARLY_ALL : MAIN;
}

/** A kind of tool and how it is called. */
export interface Combination {
  readonly kind: Kind;
  readonly mode: Mode;
  readonly outage?: Outage | undefined;
}

/** A session without a fault: its end, the outcomes of its turns, and the visits of each place. */
export interface Baseline extends Combination {
  readonly session: AgentSession;
  readonly outcomes: readonly string[];
  readonly counts: Partial<Record<Place, number>>;
}

/** A session with a fault. */
export interface Cell extends Combination {
  readonly baseline: Baseline;
  readonly plan: Plan;
  readonly place: Place;
  readonly nth: number;
}

/** The state of a cell after its process died. */
export interface Death {
  readonly cell: Cell;
  /** False when the session finished before it visited the place as often as its baseline. */
  readonly isKilled: boolean;
  readonly atDeath: AgentSession;
  readonly before: readonly Entry[];
}

export function combinations({ modes, outages: { kinds } }: Scope): readonly Combination[] {
  const mode = 'sequential';
  return [
    ...KINDS.flatMap((kind) => modes.map((each) => ({ kind, mode: each }))),
    ...kinds.flatMap((kind) => OUTAGES.map((outage) => ({ kind, mode, outage }) as const)),
  ];
}

/** The places in the work of a combination at which a process dies. */
export function placesOf(
  { places, kindsBetweenTools, outages }: Scope,
  { kind, outage }: Combination,
): readonly Place[] {
  if (outage) return outages.places;
  return kindsBetweenTools.includes(kind) ? places : places.filter((place) => !BETWEEN_TOOLS.includes(place));
}

function planOf(sessionId: string, { kind, mode, outage }: Combination): Plan {
  return { sessionId, kind, ...MODES[mode], outage };
}

function nameOf({ kind, mode, outage }: Combination): string {
  return [kind, mode, ...(outage ? [outage] : [])].join('-');
}

/** Lets a process do the work of all combinations without a fault. */
export async function baselinesOf(world: World, all: readonly Combination[]): Promise<readonly Baseline[]> {
  const scenes = all.map((combination) => ({ sessionId: nameOf(combination) }));
  for (const [index, { sessionId }] of scenes.entries()) {
    await world.begin(planOf(sessionId, all[index] as Combination));
  }
  const { lines } = await world.run(['play', JSON.stringify(scenes)]);
  return Promise.all(
    all.map(async (combination) => {
      const sessionId = nameOf(combination);
      const { outcomes, counts = {} } = turnsIn(lines, sessionId);
      return { ...combination, session: await world.load(sessionId), outcomes, counts };
    }),
  );
}

/** Reads the turns of a session from the output of a process. The process prints the counts with the last turn. */
export function turnsIn(
  lines: readonly string[],
  sessionId: string,
): Pick<Baseline, 'outcomes'> & Pick<Turn, 'counts'> {
  const turns = lines.map((line) => JSON.parse(line) as Turn).filter((turn) => turn.sessionId === sessionId);
  return { outcomes: turns.map(({ outcome }) => outcome), counts: turns.at(-1)?.counts };
}

interface Turn {
  readonly sessionId: string;
  readonly outcome: string;
  readonly counts?: Baseline['counts'] | undefined;
}

/** The most sessions that one process plays. */
const MOST_SCENES = 12;

/**
 * The cells that one process plays, for each process. A process dies in the middle of a save, and then plays no further cell:
 * each group has at most one of these cells, at its end.
 */
export function groupsOf(cells: readonly Cell[]): readonly (readonly Cell[])[] {
  const [last, others] = [
    cells.filter(({ place }) => place === 'mid-save'),
    cells.filter(({ place }) => place !== 'mid-save'),
  ];
  const count = Math.max(last.length, Math.ceil(others.length / MOST_SCENES));
  return Array.from({ length: count }, (_, index) => [
    ...others.filter((_cell, position) => position % count === index),
    ...last.slice(index, index + 1),
  ]);
}

/** The numbers from 1 to `count`, or so many of them, evenly spread. */
function spread(count: number, times: number): readonly number[] {
  const tried = Math.min(count, times);
  const step = (count - 1) / Math.max(tried - 1, 1);
  return Array.from({ length: tried }, (_, index) => 1 + Math.round(index * step));
}

/** A cell for each visit of these places that is tried. */
export function cellsOf(
  baseline: Baseline,
  places: readonly Place[],
  name: string,
  { times }: Scope,
): readonly Cell[] {
  const { kind, mode, outage, counts } = baseline;
  return places.flatMap((place) =>
    spread(counts[place] ?? 0, times).map((nth) => {
      const sessionId = `${name}-${nameOf(baseline)}-${place}-${nth}`;
      return { kind, mode, outage, baseline, plan: planOf(sessionId, baseline), place, nth };
    }),
  );
}

/** The treatments of sessions, by place and combination. */
export function table(judged: readonly (readonly [Cell, Treatment])[]): string {
  const columns = [...new Set(judged.map(([cell]) => columnOf(cell)))];
  const rows = PLACES.flatMap((place) => {
    const here = judged.filter(([cell]) => cell.place === place);
    if (here.length === 0) return [];
    const treatments = columns.map((column) => {
      const these = here.filter(([cell]) => columnOf(cell) === column);
      return [...new Set(these.map(([, treatment]) => treatment))].toSorted().join('/');
    });
    return [[place, ...treatments]];
  });
  return [['', ...columns], ...rows].map((row) => row.map((text) => text.padEnd(15)).join('')).join('\n');
}

function columnOf({ kind, mode, outage }: Combination): string {
  return outage ?? `${kind} ${MODES[mode].calls > 1 ? 'par.' : 'seq.'}`;
}
