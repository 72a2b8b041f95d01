import { measureBusy, type BusyOptions } from './measure-busy.ts';

// The parent wrote the argument.
const costs = await measureBusy(JSON.parse(process.argv[2] ?? '') as BusyOptions);
process.send?.(costs, () => process.exit());
