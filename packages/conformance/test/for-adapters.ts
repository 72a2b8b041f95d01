/** Parts that the tests of the adapters share: a provider, and drivers and stores with defects. They are not published. */
export { wrappedDefects } from './broken-drivers/wrapped-defects.ts';
export { default as redDriverCases } from './broken-drivers/red-cases.json' with { type: 'json' };
export { REFUSALS as REFUSAL_REPLIES } from './openai/openai-reply.ts';
export { fetchAbilities, KEY, TEAM } from './fetch-harness.ts';
export { OpenAiServer } from './openai/openai-server.ts';
export { understood } from './openai/openai-request.ts';
export type { OpenAiBody } from './openai/openai-request.ts';
export type { OpenAiProtocol } from './openai/openai-protocol.ts';
export type { OpenAiProvider } from './openai/openai-server.ts';
export { runThroughOutage } from './run-through-outage.ts';
export { stopWorkerOnView, workUntilStopped } from './stopped-worker.ts';
export { FAILED_BY_DESIGN } from './polling-engine/by-design.ts';
export { ScriptedSessions } from './polling-engine/scripted-sessions.ts';
export * from './broken-stores/planted-defects.ts';
