import { parseArgs } from 'node:util';
import { benchLoop } from './loop/bench-loop.ts';
import { PEER_NAMES } from './loop/peers.ts';
import { benchState } from './state.ts';
import { benchStores } from './stores/bench-stores.ts';
import { STORE_NAMES } from './stores/store-peers.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seed: { type: 'string' },
    peers: { type: 'string' },
    steps: { type: 'string' },
  },
});

const chosen = values.peers?.split(',');
const known: readonly string[] = [
  ...(positionals.includes('loop') ? PEER_NAMES : []),
  ...(positionals.includes('stores') ? STORE_NAMES : []),
];
const unknown = chosen?.filter((name) => !known.includes(name)) ?? [];
if (unknown.length > 0) {
  throw new RangeError(`No peers: ${unknown.join(', ')}. There are: ${known.join(', ')}.`);
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
if (positionals.includes('loop')) await benchLoop({ ...options, peers: PEER_NAMES.filter(isChosen) });
if (positionals.includes('state')) await benchState(values.quick ? 13 : 41);
if (positionals.includes('stores')) {
  await benchStores({ ...options, names: STORE_NAMES.filter(isChosen), steps });
}
