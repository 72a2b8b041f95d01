import type { SavesOptions } from './measure-saves.ts';
import { measureSaves } from './measure-saves.ts';

// The parent wrote the argument.
const costs = await measureSaves(JSON.parse(process.argv[2] ?? '') as SavesOptions);
process.send?.(costs, () => process.exit());
