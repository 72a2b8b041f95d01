import { strictServers, type StrictProfile } from '../../src/strict/index.ts';

/** True for servers that one package calls with one protocol. */
export function isLike(one: StrictProfile, other: StrictProfile): boolean {
  return one.package === other.package && one.wire.name === other.wire.name;
}

/** One server for each protocol of each package, as rows of a test. */
export const protocols = strictServers()
  .filter((profile, at, all) => at === all.findIndex((one) => isLike(one, profile)))
  .map((profile) => ({ name: profile.name, profile }));
