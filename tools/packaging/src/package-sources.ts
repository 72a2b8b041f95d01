/** The kinds of package that a contributor can begin. */
export const KINDS = ['store', 'driver', 'engine'] as const;

export type Kind = (typeof KINDS)[number];

/** The names in a new package. */
interface Names {
  readonly name: string;
  /** The name as part of a class's. */
  readonly title: string;
  readonly folderName: string;
}

/** Texts by path. */
type Files = Readonly<Record<string, string>>;

/** The code with which a package of each kind begins. */
export const SOURCES: Readonly<Record<Kind, (names: Names) => Files>> = {
  store: ({ name, title, folderName }) => ({
    'src/index.ts': `export { ${title}SessionStore } from './${name}-session-store.ts';\n`,
    [`src/${name}-session-store.ts`]: `import { MemorySessionStore } from '@holdfast/core';

/** Stores sessions in memory until it has a \`SessionBackend\` of its own: then it extends \`BackedSessionStore\`. */
export class ${title}SessionStore extends MemorySessionStore {}
`,
    'test/conformance.test.ts': `import { sessionStoreTests, type CreateStore } from '@holdfast/conformance';
import { ${title}SessionStore } from '@holdfast/${folderName}';
import { testCases } from '@holdfast/conformance/vitest';
import { describe } from 'vitest';

const create: CreateStore = async (clock, settings) => {
  const store = new ${title}SessionStore({ clock, ...settings });
  return { store, close: () => store.close() };
};

describe('${title}SessionStore', () => {
  testCases(sessionStoreTests({ create }));
});
`,
  }),
  driver: ({ name, folderName, title }) => ({
    'src/index.ts': `export { ${driverOf(title)} } from './${name}-driver.ts';\n`,
    [`src/${name}-driver.ts`]: `import { HoldfastError } from '@holdfast/core';
import type { Driver } from '@holdfast/core/driver';

/** A driver that calls no model yet. */
export function ${driverOf(title)}(): Driver {
  return {
    async infer() {
      throw new HoldfastError('DRIVER_FAILED', 'This driver calls no model yet.');
    },
  };
}
`,
    'test/conformance.test.ts': `import { AgentState, createAgentLoop } from '@holdfast/core';
import { ${driverOf(title)} } from '@holdfast/${folderName}';
import { describe, expect, test } from 'vitest';

describe('${driverOf(title)}', () => {
  // Put driverTests() of @holdfast/conformance in its place, over HTTP.
  test('fails with a code', async () => {
    const loop = createAgentLoop({ driver: ${driverOf(title)}() });
    const { errors } = await loop.run(AgentState.empty().withUserMessage('Hi'));
    expect(errors).toMatchObject([{ code: 'DRIVER_FAILED' }]);
  });
});
`,
  }),
  engine: ({ name, title, folderName }) => ({
    'src/index.ts': `export { ${title}Engine } from './${name}-engine.ts';\n`,
    [`src/${name}-engine.ts`]: `import { InProcessEngine } from '@holdfast/core';

/** Works in this process until it implements \`ExecutionEngine\` itself. */
export class ${title}Engine extends InProcessEngine {}
`,
    'test/conformance.test.ts': `import { engineTests, type CreateEngine } from '@holdfast/conformance';
import { testCases } from '@holdfast/conformance/vitest';
import { ${title}Engine } from '@holdfast/${folderName}';
import { describe } from 'vitest';

const create: CreateEngine = async (clock) => ({
  engine: new ${title}Engine({ clock }),
  close: async () => undefined,
});

describe('${title}Engine', () => {
  testCases(engineTests({ create, clock: true }));
});
`,
  }),
};

function driverOf(title: string): string {
  return `${title.charAt(0).toLowerCase()}${title.slice(1)}Driver`;
}
