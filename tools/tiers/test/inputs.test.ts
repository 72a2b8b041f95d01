import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../src/costs.ts';
import { heavyTasks } from '../src/heavy.ts';
import { outsidePaths } from './outside-paths.ts';

/** The members that the test reads of what Turborepo plans. */
interface Plan {
  readonly tasks: readonly Task[];
  readonly globalCacheInputs: { readonly files: Readonly<Record<string, string>> };
}

interface Task {
  readonly taskId: string;
  readonly directory: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly dependencies: readonly string[];
}

const output = (program: string, args: readonly string[]) =>
  execFileSync(program, args, { cwd: repository, encoding: 'utf8', maxBuffer: 2 ** 28 });
const turbo = join(repository, 'node_modules/.bin/turbo');
const plan: Plan = JSON.parse(output(turbo, ['run', ...heavyTasks(), '--dry=json']));
const tasks = new Map(plan.tasks.map((task) => [task.taskId, task]));
const tracked = output('git', ['ls-files']).trim().split('\n');

/** A task and the tasks that it depends on. */
function withDependencies(id: string, found = new Set<Task>()): ReadonlySet<Task> {
  const task = tasks.get(id);
  if (task === undefined || found.has(task)) return found;
  found.add(task);
  for (const dependency of task.dependencies) withDependencies(dependency, found);
  return found;
}

function hashedFiles(involved: ReadonlySet<Task>): ReadonlySet<string> {
  const own = Array.from(involved, ({ directory, inputs }) =>
    Object.keys(inputs).map((path) => join(directory, path)),
  );
  return new Set([...own.flat(), ...Object.keys(plan.globalCacheInputs.files)]);
}

/** The files of the repository at or below a path. */
function filesAt(path: string): readonly string[] {
  return path === '' ? tracked : tracked.filter((file) => file === path || file.startsWith(`${path}/`));
}

test.each(heavyTasks())('a change of a file that %s names makes it run again', (id) => {
  const involved = withDependencies(id);
  const folders = new Set(
    Array.from(involved, ({ directory }) => directory).filter((folder) => folder !== ''),
  );
  const own = tasks.get(id)?.directory ?? '';
  expect(own).not.toBe('');
  const named = Array.from(folders, (folder) =>
    outsidePaths(folder, folder === own ? ['src', 'test'] : ['src']),
  );
  const hashed = hashedFiles(involved);
  const forgotten = named
    .flat()
    .flatMap(filesAt)
    .filter((file) => !hashed.has(file));
  expect(forgotten).toEqual([]);
});
