import { parseArgs } from 'node:util';
import { benchChat } from './chat/bench-chat.ts';
import { benchLoop } from './loop/bench-loop.ts';
import { PEER_NAMES } from './loop/peers.ts';
import type { Row } from './report.ts';
import { benchState } from './state.ts';
import { benchStores } from './stores/bench-stores.ts';
import { STORE_NAMES } from './stores/store-peers.ts';
import { reportTargets } from './targets.ts';
import { benchTurns } from './turns/bench-turns.ts';
import { TURN_NAMES } from './turns/turn-peers.ts';

/** The parts, and what each measures. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  loop: PEER_NAMES,
  state: [],
  stores: STORE_NAMES,
  turns: TURN_NAMES,
  chat: [],
};

const { positionals: parts, values } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seed: { type: 'string' },
    peers: { type: 'string' },
    steps: { type: 'string' },
  },
});

refuseUnknown('parts', parts, Object.keys(PARTS));
const chosen = values.peers?.split(',');
if (chosen) {
  const known = parts.flatMap((part) => PARTS[part] ?? []);
  refuseUnknown('peers', chosen, [...new Set(known)]);
}
const isChosen = (name: string): boolean => chosen?.includes(name) ?? true;

const steps = values.steps?.split(',').map(Number);
// The cost of a save is that of the last 20 beside that of 20 before.
if (steps?.some((count) => !Number.isInteger(count) || count < 50)) {
  throw new RangeError(`--steps are whole numbers from 50 on, as in 50,200,500; found ${values.steps}.`);
}

const options = {
  seed: Number(values.seed ?? Math.floor(Math.random() * 1e6)),
  rounds: values.rounds === undefined ? undefined : Number(values.rounds),
  isQuick: values.quick,
};
const rows: Row[] = [];
if (parts.includes('loop')) {
  rows.push(...(await benchLoop({ ...options, peers: PEER_NAMES.filter(isChosen) })));
}
if (parts.includes('state')) rows.push(...(await benchState(values.quick ? 13 : 41)));
if (parts.includes('stores')) {
  rows.push(...(await benchStores({ ...options, names: STORE_NAMES.filter(isChosen), steps })));
}
if (parts.includes('turns')) {
  rows.push(...(await benchTurns({ ...options, names: TURN_NAMES.filter(isChosen) })));
}
if (parts.includes('chat')) rows.push(...(await benchChat(options)));
if (parts.length > 1) reportTargets(rows);

function refuseUnknown(what: string, names: readonly string[], known: readonly string[]): void {
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new RangeError(`Unknown ${what}: ${unknown.join(', ')}. Known ${what}: ${known.join(', ')}.`);
}
