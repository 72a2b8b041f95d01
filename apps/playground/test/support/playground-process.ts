import { fileURLToPath } from 'node:url';
import { AppProcess, temporaryFolder } from 'app-testing/process';
import { inject } from 'vitest';

/** The arguments of Node with which `pnpm playground` starts the playground. */
const sources = [
  '--conditions=@holdfast/source',
  fileURLToPath(new URL('../../src/main.ts', import.meta.url)),
];

type Environment = Readonly<Record<string, string>>;

/** How a playground starts: from its sources, or from the bundle of the test run, which is faster. */
type Form = 'sources' | 'bundle';

/** Starts a process of the playground, which ends with the test file. */
export function start(
  args: readonly string[],
  environment: Environment = {},
  form: Form = 'bundle',
): AppProcess {
  const program = form === 'sources' ? sources : [inject('playground')];
  return AppProcess.node([...program, ...args], { PARCEL_SECONDS: '2', ...environment });
}

/** Runs it to the end. */
export async function run(args: readonly string[], environment?: Environment) {
  const playground = start(args, environment);
  const code = await playground.ended;
  return { code, stdout: playground.stdout, stderr: playground.stderr };
}

/** Serves the page; `url` is where. */
export async function serve(args: readonly string[], environment?: Environment, form?: Form) {
  const playground = start(args, environment, form);
  const [, url = ''] = await playground.printed(/^Holdfast playground: (\S+) /m);
  return { playground, url };
}

/** With this in its environment a parcel is under way until something ends it. */
export const endlessParcels: Environment = { PARCEL_SECONDS: '600' };

/** A new data folder, which is removed when the test file is done. */
export const dataFolder = temporaryFolder;
