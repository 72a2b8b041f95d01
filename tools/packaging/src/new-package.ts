import { parseArgs } from 'node:util';
import { KINDS, type Kind } from './package-sources.ts';
import { writePackage } from './package-template.ts';
import { repository } from './paths.ts';

// pnpm new:package store mongodb

const { positionals } = parseArgs({ allowPositionals: true });
const [kind = '', name = ''] = positionals;

if (positionals.length !== 2 || !isKind(kind) || !/^[a-z][a-z\d]*(?:-[a-z\d]+)*$/.test(name)) {
  console.error(`Usage: pnpm new:package ${KINDS.join('|')} NAME, as in pnpm new:package store mongodb`);
  process.exitCode = 1;
} else {
  const folder = await writePackage({ kind, name, repository });
  console.log(`${folder} begins as a package that passes its tests. Next:

  pnpm install
  pnpm test --project ${kind}-${name}
  pnpm build && pnpm api:update && pnpm check:static

CONTRIBUTING.md says what a ${kind} must do.`);
}

function isKind(text: string): text is Kind {
  return KINDS.includes(text as Kind);
}
