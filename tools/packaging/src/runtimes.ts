import assert from 'node:assert/strict';
import { join } from 'node:path';
import { outputOf } from './command.ts';
import { tools } from './paths.ts';

type Command = readonly [program: string, ...args: string[]];

const installed = (name: string): string => join(tools, 'node_modules/.bin', name);

/** The command that runs a program, by the name of the runtime. */
export const RUNTIMES: Readonly<Record<string, Command>> = {
  'Node 22': [installed('node')],
  [`Node ${process.versions.node}`]: [process.execPath],
  Bun: [installed('bun'), 'run'],
  Deno: [installed('deno'), 'run', '--allow-all', '--node-modules-dir=manual'],
};

const EXPECTED = { answer: 'It is 4.', tools: [4], others: 3, hasCases: true, failures: [] };

/** Runs the program of a project, which uses every package. @throws Error when it does not do what it is known to do. */
export async function runProgram(command: Command, project: string): Promise<void> {
  const output = await outputOf([...command, 'program.ts'], { cwd: project });
  assert.deepEqual(JSON.parse(output.split('\n').at(-1) ?? ''), EXPECTED);
}
