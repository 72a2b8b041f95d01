/** Parts that the tests of the adapters share: a provider, and drivers and stores with defects. They are not published. */
export { wrappedDefects } from './driver/broken-drivers/wrapped-defects.ts';
export { default as redDriverCases } from './driver/broken-drivers/red-cases.json' with { type: 'json' };
export { REFUSALS as REFUSAL_REPLIES } from './driver/openai/openai-reply.ts';
export { fetchAbilities, KEY, TEAM } from './driver/fetch-harness.ts';
export { OpenAiServer } from './driver/openai/openai-server.ts';
export { understood } from './driver/openai/openai-request.ts';
export type { OpenAiBody } from './driver/openai/openai-request.ts';
export type { OpenAiProtocol } from './driver/openai/openai-protocol.ts';
export type { OpenAiProvider } from './driver/openai/openai-server.ts';
export { runThroughOutage } from './store/run-through-outage.ts';
export { stopWorkerOnView, workUntilStopped } from './channel/stopped-worker.ts';
export { ScriptedSessions, SHORT_LEASE_SECONDS } from './engine/polling-engine/scripted-sessions.ts';
export { stepsOfWalk, walkWithBases, type BaseWalk } from './store/outdated-bases.ts';
export { testsOfParts, type CasePart } from './store/case-parts.ts';
export * from './store/broken-stores/planted-defects.ts';
