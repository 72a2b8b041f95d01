import { readFileSync } from 'node:fs';

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** The rules of a user, from its line in the README. */
export function rulesOf(user: string): readonly string[] {
  const line = README.split('\n').find((text) => text.startsWith(`ACL SETUSER ${user} `)) ?? '';
  return line.split(' ').slice(3);
}

/** The further rules of each user of a Cluster. */
export function clusterRules(): readonly string[] {
  return /`(\+cluster[^`]*)`/.exec(README)?.[1]?.split(' ') ?? [];
}
