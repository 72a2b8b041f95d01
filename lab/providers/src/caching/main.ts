import { AGENTS, type AgentShape } from './agents.ts';
import { COMPILERS } from './compilers.ts';
import { measureTurns, sumOf, type Measurement, type MeasuredTurn } from './measure.ts';
import { anthropic, CACHING_PROVIDERS } from './providers.ts';

const COLUMNS = [
  'agent',
  'provider',
  'promptCache',
  'compiler',
  'turn 10 shares with turn 9',
  'first call of turn 10',
  'of it read',
  'input of 10 turns',
  'read',
  'written',
  'dollars, turn 10',
  'dollars, 10 turns',
];

/** Prints a table of each agent, provider and compiler over ten turns. */
async function main(): Promise<void> {
  console.log(line(COLUMNS));
  console.log(line(COLUMNS.map(() => '---')));
  for (const shape of AGENTS)
    for (const measurement of measurementsOf(shape)) await measure(shape, measurement);
}

interface Named extends Measurement {
  readonly promptCache: 'off' | 'auto';
  readonly compilerName: string;
}

/** Only Anthropic sends other requests with `promptCache: 'off'`, apart from OpenAI's key. */
function measurementsOf(shape: AgentShape): readonly Named[] {
  return CACHING_PROVIDERS.flatMap((provider) =>
    COMPILERS.flatMap(([compilerName, create]) =>
      (provider === anthropic ? (['off', 'auto'] as const) : (['auto'] as const)).map((promptCache) => ({
        provider,
        shape,
        compiler: create(),
        compilerName,
        promptCache,
      })),
    ),
  );
}

async function measure(shape: AgentShape, measurement: Named): Promise<void> {
  const { provider, promptCache, compilerName } = measurement;
  const names = [shape.name, provider.name, promptCache, compilerName];
  console.log(line([...names, ...figuresOf(await measureTurns(measurement))]));
}

function figuresOf(turns: readonly MeasuredTurn[]): readonly string[] {
  const last = turns.at(-1) as MeasuredTurn;
  const { fresh, cacheRead, cacheWrite } = sumOf(turns.map(({ input }) => input));
  const total = fresh + cacheRead + cacheWrite;
  const tokens = [last.first.tokens, last.first.cacheRead, total, cacheRead, cacheWrite];
  const costs = [last.usage.cost ?? NaN, turns.reduce((sum, { usage }) => sum + (usage.cost ?? NaN), 0)];
  const shared = `${last.shared.blocks} blocks, ${inDigits(last.shared.tokens)} tokens`;
  return [shared, ...tokens.map(inDigits), ...costs.map((cost) => cost.toFixed(3))];
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function inDigits(count: number): string {
  return count.toLocaleString('en-US');
}

await main();
