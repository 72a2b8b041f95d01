import { takeStep, type PersonStep } from './person-step.ts';

/** A process that takes one step and writes the end as JSON. */

const step = JSON.parse(process.argv[2] ?? '') as PersonStep;
process.stdout.write(JSON.stringify(await takeStep(step)));
