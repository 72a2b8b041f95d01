import { execFileSync, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';

/** The moments of an isolated process at which its parent dies. */
const MOMENTS = [
  'blocks before it loads modules',
  'waits before it serves',
  'serves after its parent has died',
  'is idle',
  'yields',
  'ignores its signal',
  'blocks in a tool',
];
const EFFORT = Number(process.env['EFFORT'] ?? 1);
const program = fileURLToPath(new URL('../../support/orphans/parent.ts', import.meta.url));

interface Listed {
  readonly pid: number;
  readonly parent: number;
}

/** Lists the processes of this machine, without those that have ended and wait for their parent to notice. */
function processes(): readonly Listed[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' }).trim().split('\n');
  return rows.flatMap((row) => {
    const [pid, parent, state = ''] = row.trim().split(/\s+/u);
    return state.startsWith('Z') ? [] : [{ pid: Number(pid), parent: Number(parent) }];
  });
}

/** Starts a parent with an isolated process for each moment. Returns the lines that it and its children have printed. */
function startParent(moments: readonly string[]) {
  const parent = spawn(process.execPath, ['--conditions=@holdfast/source', program, ...moments], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const lines: string[] = [];
  let onLine = (): void => undefined;
  createInterface(parent.stdout).on('line', (line) => {
    lines.push(line);
    onLine();
  });
  const until = (count: number) =>
    new Promise<readonly string[]>((resolve) => {
      onLine = () => void (lines.length >= count && resolve(lines));
      onLine();
    });
  /** Its children have the same pipe: it closes when the last of them has ended. */
  const allEnded = new Promise((resolve) => parent.stdout.once('close', resolve));
  return { parent, until, allEnded };
}

/** Returns the ids of the child processes of a process. Kills those that the test leaves. */
function childrenOf({ pid: parent }: { readonly pid?: number | undefined }): readonly number[] {
  const children = processes().flatMap((one) => (one.parent === parent ? [one.pid] : []));
  onTestFinished(() => {
    for (const { pid } of processes()) if (children.includes(pid)) process.kill(pid, 'SIGKILL');
  });
  return children;
}

test('an isolated process ends when its parent is killed, at each moment of its life', async () => {
  const { parent, until, allEnded } = startParent(MOMENTS);
  const lines = await until(1 + MOMENTS.length);
  expect(lines.map((line) => line.replace(/ \d+$/u, '')).toSorted()).toEqual(
    ['started', ...MOMENTS].toSorted(),
  );
  const children = childrenOf(parent);
  expect(children).toHaveLength(MOMENTS.length);
  parent.kill('SIGKILL');
  await allEnded;
  expect(processes().filter(({ pid }) => children.includes(pid))).toEqual([]);
});

test.each(Array.from({ length: EFFORT > 1 ? 40 : 1 }, (_, looks) => looks))(
  'an isolated process that has just been started ends when its parent is killed: after %d more looks',
  async (more) => {
    const { parent, until, allEnded } = startParent(['is idle']);
    await until(1);
    let children = childrenOf(parent);
    for (let looks = 0; looks < more; looks++) children = childrenOf(parent);
    expect(children).toHaveLength(1);
    parent.kill('SIGKILL');
    await allEnded;
    expect(processes().filter(({ pid }) => children.includes(pid))).toEqual([]);
  },
);
