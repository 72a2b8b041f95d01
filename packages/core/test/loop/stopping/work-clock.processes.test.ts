import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';

const program = new URL('../../support/stopped-worker.ts', import.meta.url);

/** Stops a process, and waits until the system has done it. */
async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGSTOP');
  const state = async () => (await readFile(`/proc/${child.pid}/stat`, 'utf8')).split(') ')[1]?.[0];
  await vi.waitUntil(async () => (await state()) === 'T');
}

test.runIf(process.platform === 'linux')('an hour in which the process is stopped is no work', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'work-clock-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const later = join(folder, 'later');
  await writeFile(later, '0');
  const child = fork(program, [later], { execArgv: ['--conditions=@holdfast/source'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  await stop(child);
  await writeFile(later, '3600000');
  child.kill('SIGCONT');
  child.send('Go on.');
  const [end] = await once(child, 'message');
  expect(end).toMatchObject({ status: 'completed', outcome: 'succeeded' });
  expect(end.seconds).toBeGreaterThan(3_590);
  expect(end.workedSeconds).toBeLessThan(600);
});
