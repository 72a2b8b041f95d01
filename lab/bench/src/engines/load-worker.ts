import { measureLoad, type LoadOptions } from './measure-load.ts';

// The parent wrote the argument.
const metrics = await measureLoad(JSON.parse(process.argv[2] ?? '') as LoadOptions);
process.send?.(metrics, () => process.exit());
