// The import rules of ARCHITECTURE.md. Type-only imports count like any other.

const core = '^packages/core/src/';
const entry = `${core}(?:index|store|driver|engine|spending|channel|testing)\\.ts$`;
const leaf = `${core}(?!(?:index|store|driver|engine|spending|channel|testing)\\.ts$)[^/]+\\.ts$`;
const state = `${core}state/`;
const loop = `${core}loop/`;
const agents = `${core}agents/`;
const observe = `${core}observe/`;
const testing = `${core}testing/`;
const channel = `${core}channel/`;
const session = `${core}session/`;
const spending = `${core}spending/`;
const sessionErrors = `${session}session-errors\\.ts$`;
const folder = '^(?:packages|apps|lab|tools)/[^/]+/src/.+';
const adapter = '^packages/(?:driver|store|engine|runner|ui)-[^/]+/';

/** Modules of core in one layer may import that layer and the ones below it. */
const layer = (name, from, below) => ({
  name,
  severity: 'error',
  comment: 'Imports in core point one way: leaves, state, loop, what is built on the loop, entries.',
  from: { path: from },
  to: { path: core, pathNot: [from, ...below] },
});

const forbidden = (name, comment, from, to) => ({ name, severity: 'error', comment, from, to });

/** Adapters import the root of core, and the entries that are made for authors of their kind. */
const door = (name, from, others = []) =>
  forbidden(
    `core-${name}-entry`,
    `Packages of this kind import '@holdfast/core' and its entries for them: ${[name, ...others].join(', ')}.`,
    { path: from },
    { path: '^packages/core/', pathNot: `${core}(?:${['index', name, ...others].join('|')})\\.ts$` },
  );

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    layer('core-leaves', leaf, []),
    layer('core-state', state, [leaf]),
    layer('core-loop', loop, [leaf, state]),
    layer('core-agents', agents, [leaf, state, loop]),
    layer('core-observe', observe, [leaf, state, loop]),
    layer('core-channel', channel, [leaf, state, loop]),
    layer('core-session', session, [leaf, state, loop, channel]),
    layer('core-spending', spending, [leaf, state, loop, sessionErrors]),
    layer('core-testing', testing, [leaf, state, loop]),
    forbidden(
      'core-folders',
      'ARCHITECTURE.md lists the folders of core.',
      {},
      { path: `${core}[^/]+/`, pathNot: [state, loop, agents, observe, channel, session, spending, testing] },
    ),
    forbidden(
      'core-session-contract',
      'A session and the contract of its store are values: only the runtime reaches the loop.',
      { path: `${session}session(?:-store)?\\.ts$` },
      { path: loop, reachable: true },
    ),
    forbidden(
      'core-barrels',
      'Only the entries re-export.',
      { path: core, pathNot: entry },
      { dependencyTypes: ['export'] },
    ),
    forbidden(
      'core-alone',
      'Core imports no package and no builtin of any runtime.',
      { path: core },
      { pathNot: core },
    ),
    door('driver', '^packages/driver-[^/]+/src/'),
    door('store', '^packages/store-[^/]+/src/', ['spending', 'channel']),
    door('engine', '^packages/(?:engine|runner)-[^/]+/src/'),
    door('channel', '^packages/ui-[^/]+/src/', ['driver', 'engine', 'store']),
    forbidden(
      'core-for-tests',
      'What is published does not need the parts of core that are made for tests.',
      { path: '^packages/[^/]+/src/', pathNot: core },
      { path: `${core}testing\\.ts$` },
    ),
    forbidden(
      'packages-by-name',
      'A package is imported by its name, not by a path into its folder.',
      // The files of tools/config are no package: they have no dependencies to import by name.
      { path: '^(packages|lab|tools|apps(?:/examples(?=/chat-))?)/([^/]+)/', pathNot: '^tools/config/' },
      {
        path: '^(?:packages|apps|lab|tools)/',
        pathNot: ['^$1/$2/', '^tools/config/'],
        dependencyTypes: ['local'],
      },
    ),
    forbidden(
      'adapters-apart',
      'A driver, a store, an engine, a runner or a page knows core, never another of them.',
      { path: '^packages/((?:driver|store|engine|runner|ui)-[^/]+)/' },
      { path: adapter, pathNot: '^packages/$1/' },
    ),
    forbidden(
      'conformance-below-adapters',
      'The cases of a contract know core, and no adapter.',
      { path: '^packages/conformance/' },
      { path: '^packages/', pathNot: '^packages/(?:core|conformance)/' },
    ),
    forbidden(
      'conformance-for-tests',
      'What is published does not need the cases that prove it.',
      { path: '^packages/[^/]+/src/', pathNot: '^packages/conformance/' },
      { path: '^packages/conformance/' },
    ),
    forbidden(
      'packages-below-apps',
      'Nothing imports an app. Tests start their servers with one.',
      { path: '^packages/' },
      { path: '^(?:apps|lab|tools)/', pathNot: '^tools/(?:config|test-servers)/' },
    ),
    forbidden(
      'servers-for-tests',
      'What is published starts no server of a test.',
      { path: '^packages/[^/]+/src/' },
      { path: '^tools/test-servers/' },
    ),
    forbidden(
      'declared',
      'What is published imports only its own dependencies and peers.',
      { path: '^packages/[^/]+/src/' },
      { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['npm-peer'] },
    ),
    forbidden('resolvable', 'Every import leads somewhere.', {}, { couldNotResolve: true }),
    forbidden('no-cycles', 'No cycles, type-only imports included.', {}, { circular: true }),
    forbidden(
      'core-faces',
      'The files of these folders stand above their sub-folders.',
      { path: `${core}(loop|state|session/store)/[^/]+/` },
      { path: `${core}$1/[^/]+\\.ts$` },
    ),
    forbidden(
      'core-grounds',
      'The files of these folders stand below their sub-folders.',
      { path: `${core}(session|session/engine)/[^/]+\\.ts$` },
      { path: `${core}$1/[^/]+/` },
    ),
    {
      name: 'folders-one-way',
      severity: 'error',
      comment:
        'Folders are floors: two folders below a `src` never import each other, directly or through others.',
      scope: 'folder',
      from: { path: folder },
      to: { path: folder, circular: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: {
      path: [
        '^(?:packages|apps|lab|tools)/[^/]+/(?:dist|temp|\\.astro)/',
        '^apps/examples/chat-[^/]+/(?:dist|\\.next)/',
      ],
    },
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    enhancedResolveOptions: {
      conditionNames: ['@holdfast/source', 'types', 'import', 'node', 'default'],
      exportsFields: ['exports'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.json', '.d.ts'],
    },
  },
};
