import type { Store } from '../../../src/stores.ts';
import { join } from 'node:path';
import { SessionRuntime, type AgentSession } from '@holdfast/core';
import { toUIMessages } from '@holdfast/ui-ai-sdk';
import { withoutSteered } from '@holdfast/ui-ai-sdk/transport';
import type { ChatLimits } from '@holdfast/ui-ai-sdk/handler';
import type { UIMessage } from 'ai';
import type { Browser, BrowserContext } from 'playwright-core';
import { until } from 'test-servers';
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { Gates } from '../../../src/chats/gates.ts';
import { Journal } from '../../../src/journal.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { ChatPage, json } from './chat-page.ts';
import type { ChatStore, StartProcess, StartedProcess } from './chat-stores.ts';

const PATIENCE = { timeout: 300_000, interval: 20 };
const START_MS = 300_000;

interface WorldParts {
  readonly store: Store;
  readonly chats: ChatStore;
  readonly folder: string;
  readonly start: StartProcess;
  readonly browser: Browser | undefined;
}

/** A chat in a world whose processes it shares with other chats. */
interface SharedChat {
  readonly chatId: string;
  readonly port: number;
  /** The entries of the journal about earlier chats. */
  readonly earlier: number;
}

/** A store, the processes that serve and work on its chats, and pages in a browser. */
export class ChatWorld implements AsyncDisposable {
  readonly store: Store;
  /** Reads and creates sessions. It has no agent: only processes work. */
  readonly runtime: SessionRuntime;
  readonly gates: Gates;
  private readonly journal: Journal;
  private readonly processes: StartedProcess[] = [];
  private readonly parts: WorldParts;
  private readonly shared: SharedChat | undefined;
  private context: BrowserContext | undefined;
  private port: number;

  private constructor(parts: WorldParts, shared?: SharedChat) {
    this.parts = parts;
    this.shared = shared;
    this.port = shared?.port ?? 0;
    this.store = parts.store;
    this.runtime = new SessionRuntime({ store: this.store, agents: {} });
    this.gates = new Gates(join(parts.folder, 'gates'));
    this.journal = new Journal(join(parts.folder, 'journal'));
  }

  /** An empty store without processes. */
  static async of(chats: ChatStore, browser?: Browser): Promise<ChatWorld> {
    const folder = temporaryFolder();
    const { store, start } = await chats.open(folder);
    return new ChatWorld({ store, chats, folder, start, browser });
  }

  /**
   * Returns the function that begins a chat in a world of this block of tests. All its chats share one web process and one
   * worker, so a test must not kill or replace these processes.
   */
  static ofBlock(chats: ChatStore, browser: () => Browser): () => Promise<ChatWorld> {
    let world: ChatWorld | undefined;
    let count = 1;
    beforeAll(async () => {
      world = await ChatWorld.of(chats, browser());
      const { web, worker } = await world.startBoth();
      for (const { share } of [web, worker]) share();
    }, START_MS);
    afterAll(() => world?.[Symbol.asyncDispose]());
    return async () => {
      if (world === undefined) throw new Error('The world of the block has not started.');
      return world.beginChat(`c${++count}`);
    };
  }

  private beginChat(chatId: string): ChatWorld {
    this.gates.reset();
    return new ChatWorld(this.parts, { chatId, port: this.port, earlier: this.journal.read().length });
  }

  get chatId(): string {
    return this.shared?.chatId ?? 'c1';
  }

  private get sessionId(): string {
    return `ada/${this.chatId}`;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** True when pages show a response while the model writes it, and not only its saved steps. */
  get hasDeltas(): boolean {
    return this.parts.chats.hasDeltas;
  }

  /** Starts a web process: the first one on a free port, a later one on the same port. */
  async startWeb(limits: ChatLimits = {}): Promise<StartedProcess> {
    const web = await this.started('web', String(this.port), JSON.stringify(limits));
    this.port = Number(new URL(web.url).port);
    return web;
  }

  async startWorker(name: string): Promise<StartedProcess> {
    return this.started('worker', name);
  }

  /** Starts a web process and the worker `one`. */
  async startBoth(
    limits: ChatLimits = {},
  ): Promise<{ readonly web: StartedProcess; readonly worker: StartedProcess }> {
    const [web, worker] = await Promise.all([this.startWeb(limits), this.startWorker('one')]);
    return { web, worker };
  }

  /** Opens a tab. All tabs of a world have one profile. */
  async openPage(path = '/'): Promise<ChatPage> {
    this.context ??= await this.parts.browser?.newContext();
    if (this.context === undefined) throw new Error('This test has no browser.');
    return ChatPage.open(this.context, `${this.url}${path}?chat=${this.chatId}`);
  }

  async reaches(gate: string): Promise<void> {
    await until(`the agent reaches the gate ${gate}`, () => this.gates.isReached(gate));
  }

  /** Returns the number of times that a tool ran. */
  callsOf(tool: string): number {
    return this.journal
      .read()
      .slice(this.shared?.earlier)
      .filter((entry) => entry.tool === tool).length;
  }

  session(): Promise<AgentSession> {
    return this.runtime.get(this.sessionId);
  }

  /** Waits until the run has ended and each page shows exactly the messages of the saved session. */
  async endsOn(...pages: readonly ChatPage[]): Promise<AgentSession> {
    await until('the run ends', async () => {
      const session = await this.store.load(this.sessionId);
      return session?.state.executionId !== undefined && !session.state.hasActiveExecution;
    });
    return this.equals(...pages);
  }

  /** Waits until each idle page shows exactly the messages of the saved session. */
  async equals(...pages: readonly ChatPage[]): Promise<AgentSession> {
    return vi.waitFor(async () => {
      const session = await this.session();
      for (const page of pages) await expectShown(page, toUIMessages(session.state));
      return session;
    }, PATIENCE);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.context?.close();
    if (this.shared) return;
    for (const { kill } of this.processes) await kill();
    await this.store.close();
  }

  private async started(...args: readonly string[]): Promise<StartedProcess> {
    const process = await this.parts.start(args);
    this.processes.push(process);
    return process;
  }
}

/** Fails unless a page shows these messages, is idle and has had no error. */
async function expectShown(page: ChatPage, messages: readonly UIMessage[]): Promise<void> {
  const { messages: shown, status } = await page.shown();
  expect(comparable(shown)).toEqual(comparable(withoutSteered(messages)));
  expect(status).toBe('ready');
  expect(page.errors).toEqual([]);
}

/** Returns messages for a comparison. A state has the metadata of its last execution, and a page can have more. */
function comparable(messages: readonly UIMessage[]): unknown {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return json(messages.map(({ metadata, ...rest }, index) => (index < last ? rest : { metadata, ...rest })));
}

/** The session of the chat `c1` of the owner `ada`, in a world of one chat. */
export const SESSION_ID = 'ada/c1';
