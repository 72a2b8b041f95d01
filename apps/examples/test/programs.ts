import { isProgram, type Block } from '../src/blocks.ts';
import type { Page } from '../src/pages.ts';
import { printedBy } from '../src/run.ts';
import { startServices } from './services/services.ts';

/** The pages whose programs run at the same time: programs wait for servers and timers. */
const CONCURRENCY = 3;

/** Returns the output of a program. @throws Error when the program failed. */
type Printed = () => string;

/** The running programs of all pages. */
export interface Programs {
  /** Waits until a program has ended. Returns what it has printed. @throws Error when it failed. */
  readonly printed: (block: Block) => Promise<string>;
  /** Resolves when all programs have ended. */
  readonly ended: Promise<unknown>;
}

export function programsOf({ blocks }: Page): readonly Block[] {
  return blocks.filter(isProgram);
}

/** Starts the programs of a few pages at a time. Those of one page run one after the other, and share its services. */
export function startPrograms(pages: readonly Page[], project: string): Programs {
  const blocks = pages.flatMap(programsOf);
  const results = new Map(blocks.map((block) => [block, Promise.withResolvers<Printed>()]));
  const waiting = pages.values();
  const work = async (): Promise<void> => {
    for (const page of waiting) {
      for await (const [block, printed] of runPage(page, project)) results.get(block)?.resolve(printed);
    }
  };
  return {
    printed: async (block) => ((await results.get(block)?.promise) ?? (() => ''))(),
    ended: Promise.all(Array.from({ length: CONCURRENCY }, work)),
  };
}

async function* runPage(page: Page, project: string): AsyncGenerator<readonly [Block, Printed]> {
  const services = await startServices(page);
  for (const block of programsOf(page)) {
    const run = printedBy({ block, page: page.path, project, env: services.env });
    yield [block, await run.then(always, throwing)];
  }
  await services.close();
}

function always(text: string): Printed {
  return () => text;
}

function throwing(error: unknown): Printed {
  return () => {
    throw error;
  };
}
