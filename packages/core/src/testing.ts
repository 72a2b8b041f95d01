export { scriptedDriver } from './loop/scripted-driver.ts';
export type { ScriptedAnswer, ScriptedDriver } from './loop/scripted-driver.ts';
export { manualClock, steppedClock } from './loop/stepped-clock.ts';
export type { ManualClock } from './loop/stepped-clock.ts';
export { toolContext } from './loop/tool-context.ts';
