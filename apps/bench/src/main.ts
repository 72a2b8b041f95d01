import { parseArgs } from 'node:util';
import { benchLoop } from './loop/bench-loop.ts';
import { PEER_NAMES } from './loop/peers.ts';
import { benchState } from './state.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seed: { type: 'string' },
    peers: { type: 'string' },
  },
});

const chosen = values.peers?.split(',');
const peers = PEER_NAMES.filter((name) => chosen?.includes(name) ?? true);
const unknown = chosen?.filter((name) => !peers.some((peer) => peer === name)) ?? [];
if (unknown.length > 0) {
  throw new RangeError(`No peers: ${unknown.join(', ')}. There are: ${PEER_NAMES.join(', ')}.`);
}

if (positionals.includes('loop')) {
  await benchLoop({
    peers,
    seed: Number(values.seed ?? Math.floor(Math.random() * 1e6)),
    rounds: values.rounds === undefined ? undefined : Number(values.rounds),
    isQuick: values.quick,
  });
}
if (positionals.includes('state')) await benchState(values.quick ? 13 : 41);
