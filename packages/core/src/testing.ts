export { scriptedDriver } from './testing/scripted-driver.ts';
export type { ScriptedAnswer, ScriptedDriver } from './testing/scripted-driver.ts';
export { manualClock, steppedClock } from './testing/stepped-clock.ts';
export type { ManualClock } from './testing/stepped-clock.ts';
export { toolContext } from './loop/tools/tool-context.ts';
