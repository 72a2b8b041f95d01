import { measureTurns, type TurnOptions } from './measure-turns.ts';

// The parent wrote the argument.
const costs = await measureTurns(JSON.parse(process.argv[2] ?? '') as TurnOptions);
process.send?.(costs, () => process.exit());
