import { writeSync } from 'node:fs';

/** The moment of its life at which the process stays until its parent dies. */
const moment = process.env['MOMENT'];

/** Tells the test that the moment has come. */
const arrive = (): number => writeSync(1, `${moment} ${process.pid}\n`);

function block(): never {
  arrive();
  for (;;);
}

setInterval(() => undefined, 1_000_000); // as the connection of a store
if (moment === 'blocks before it loads modules') block();
const { serveIsolated } = await import('@holdfast/core/engine');
if (moment === 'waits before it serves') {
  arrive();
  await new Promise(() => undefined);
}
if (moment === 'serves after its parent has died') {
  arrive();
  while (process.connected) await new Promise(setImmediate);
}
serveIsolated(async (_, { signal } = {}) => {
  if (moment === 'blocks in a tool') block();
  if (moment !== 'is idle') arrive();
  if (moment === 'ignores its signal') await new Promise(() => undefined);
  if (moment === 'yields') await new Promise((resolve) => signal?.addEventListener('abort', resolve));
  if (moment === 'is idle') setImmediate(arrive);
  return { outcome: { type: 'finished' }, wake: [] };
});
