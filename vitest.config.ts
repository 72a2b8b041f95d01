import { configDefaults, defineConfig } from 'vitest/config';
import { CostlyFirst } from './tools/tiers/src/costly-first.ts';
import { CostsReporter } from './tools/tiers/src/costs-reporter.ts';

const { TEST_TIER, UPDATE_COSTS } = process.env;
const reportsCosts = TEST_TIER !== undefined || UPDATE_COSTS !== undefined;

export default defineConfig({
  test: {
    projects: ['packages/*', 'apps/*', 'lab/*', 'tools/*', '!tools/config', 'apps/examples/chat-*'],
    sequence: { sequencer: CostlyFirst },
    reporters: [...configDefaults.reporters, ...(reportsCosts ? [new CostsReporter()] : [])],
  },
});
