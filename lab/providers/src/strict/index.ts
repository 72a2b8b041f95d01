import type { StrictProfile } from './profile.ts';
import { compatibleProfiles } from './profiles/compatible.ts';
import { nativeProfiles } from './profiles/native.ts';
import { openAiProfiles } from './profiles/openai-family.ts';

export type { StrictAnswer } from './answer.ts';
export type { StrictProfile } from './profile.ts';
export { assumedRules, rules, rulesFor, type Rule } from './rules.ts';
export { strictServer, type StrictScript, type StrictServer } from './server.ts';

/** All providers that a strict server can play, with at least one for each provider package. */
export function strictServers(): readonly StrictProfile[] {
  return [...openAiProfiles, ...nativeProfiles, ...compatibleProfiles];
}
