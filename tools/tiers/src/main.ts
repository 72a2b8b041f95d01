import { runHeavy } from './heavy.ts';

process.exitCode = await runHeavy(process.argv.slice(2));
