import { fileURLToPath } from 'node:url';
import { configDefaults, defineProject } from 'vitest/config';
import { tierFiles } from '../tiers/src/tier-files.ts';

const source = '@holdfast/source';
/** On a machine that is ten times slower, a test of half a minute takes five. */
const HANG_MS = 600_000;
const measure = fileURLToPath(new URL('../tiers/src/measure.ts', import.meta.url));
const compileCache = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url));

interface ProjectOptions {
  /**
   * The test files of a worker share the modules that they import, which saves two thirds of the time of small files. The
   * modules of such a project keep no state between tests, and modules beside the test files register no hooks when they
   * are imported. Default: false.
   */
  readonly sharesModules?: boolean;
}

/** The tests of one package, with every workspace package resolved to its source. */
export function project(name: string, { sharesModules = false }: ProjectOptions = {}) {
  const conditions = [source, 'node', 'development|production'];
  const { include, exclude } = tierFiles(name);
  return defineProject({
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      name,
      include,
      exclude: [...configDefaults.exclude, ...exclude],
      setupFiles: [measure],
      isolate: !sharesModules,
      // Bounds for what hangs: no test is judged by its duration.
      testTimeout: HANG_MS,
      hookTimeout: HANG_MS,
      expect: { poll: { timeout: HANG_MS / 2 } },
      // More workers than processors: many tests wait for a server, a lease or another process.
      maxWorkers: '200%',
      // A child process starts in half of the time when Node does not compile its modules again.
      env: { NODE_COMPILE_CACHE: compileCache },
      // Child processes that a test forks resolve the workspace packages in the same way.
      execArgv: [`--conditions=${source}`],
    },
  });
}
