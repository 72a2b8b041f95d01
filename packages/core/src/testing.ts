export { scriptedDriver } from './loop/scripted-driver.ts';
export type { ScriptedAnswer, ScriptedDriver } from './loop/scripted-driver.ts';
export { steppedClock } from './loop/stepped-clock.ts';
