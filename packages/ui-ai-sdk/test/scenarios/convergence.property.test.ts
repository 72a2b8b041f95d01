import {
  createAgentLoop,
  InProcessEngine,
  MemorySessionStore,
  SessionRuntime,
  tool,
  type SavePolicy,
  type SessionStore,
} from '@holdfast/core';
import { MemorySessionChannel, type SessionChannel } from '@holdfast/core/channel';
import type { Driver } from '@holdfast/core/driver';
import { sweep } from '@holdfast/core/engine';
import { toUIMessages } from '@holdfast/ui-ai-sdk';
import { chatHandler } from '@holdfast/ui-ai-sdk/handler';
import { HoldfastChatTransport, withoutSteered } from '@holdfast/ui-ai-sdk/transport';
import type { UIMessage } from 'ai';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { ChatServer } from '../support/chat-server.ts';
import { TestChat } from '../support/test-chat.ts';

const EFFORT = Number(process.env['EFFORT'] ?? 1);

/** Something that happens to a chat. */
type Act =
  | 'send'
  | 'sendElsewhere'
  | 'decide'
  | 'stop'
  | 'regenerate'
  | 'edit'
  | 'cut'
  | 'reload'
  | 'replaceWeb'
  | 'killWorker'
  | 'pause';

/** The output of one call of the model. */
type Answer = 'text' | 'long' | 'add' | 'pay' | 'ask' | 'fail' | 'both';

const acts = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Act>('send') },
    { weight: 2, arbitrary: fc.constant<Act>('sendElsewhere') },
    { weight: 4, arbitrary: fc.constant<Act>('decide') },
    { weight: 12, arbitrary: fc.constant<Act>('cut') },
    { weight: 6, arbitrary: fc.constant<Act>('pause') },
    { weight: 1, arbitrary: fc.constantFrom<Act>('stop', 'reload', 'replaceWeb') },
    { weight: 1, arbitrary: fc.constantFrom<Act>('regenerate', 'edit') },
    { weight: 1, arbitrary: fc.constant<Act>('killWorker') },
  ),
  { minLength: 10, maxLength: 30, size: 'max' },
);
const answers = fc.array(fc.constantFrom<Answer>('text', 'long', 'add', 'pay', 'ask', 'fail', 'both'), {
  minLength: 4,
  maxLength: 12,
});
const policies = fc.constantFrom<SavePolicy>('each-effect', 'each-step', 'end');

/** Lets the other work of this process continue for a while. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A model that answers as the list says, and then with a text. */
function modelOf(list: readonly Answer[]): Driver {
  let calls = 0;
  return {
    async infer(_, { onDelta, signal }) {
      const number = calls++;
      const answer = list[number] ?? 'text';
      if (answer === 'fail') throw new Error('out of order');
      const words = answer === 'long' ? 30 : 3;
      let text = '';
      for (let word = 0; word < words; word++) {
        const piece = `${number}.${word} `;
        text += piece;
        onDelta?.({ type: 'text', id: 't', text: piece });
        await turns(2);
        signal.throwIfAborted();
      }
      const call = (toolName: string) =>
        ({ type: 'tool-call', toolCallId: `${toolName}-${number}`, toolName, input: {} }) as const;
      const names =
        { add: ['add'], pay: ['pay'], ask: ['ask'], both: ['pay', 'add', 'ask'] }[answer as 'add'] ?? [];
      return { content: [{ type: 'text', text }, ...names.map(call)] };
    },
  };
}

const inputSchema = { type: 'object' } as const;
const tools = [
  tool({ name: 'add', description: 'Adds.', inputSchema, execute: async () => (await turns(5), 4) }),
  tool({ name: 'pay', description: 'Pays.', inputSchema, needsApproval: true, execute: () => 'paid' }),
  tool({ name: 'ask', description: 'Asks.', inputSchema }),
];

/** A process: when it dies, no call to the store returns any more. */
function processStore(store: MemorySessionStore): {
  readonly store: MemorySessionStore;
  readonly die: () => void;
} {
  let isDead = false;
  const proxy = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...args: unknown[]) => {
        if (isDead) await new Promise(() => undefined);
        const result: unknown = await member.apply(target, args);
        if (isDead) await new Promise(() => undefined);
        return result;
      };
    },
  });
  return { store: proxy, die: () => (isDead = true) };
}

/** A channel that loses batches. */
function lossyChannel(channel: SessionChannel, isLost: () => boolean): SessionChannel {
  return new Proxy(channel, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) =>
        name === 'publish' && isLost() ? Promise.resolve() : (member.apply(target, args) as unknown);
    },
  });
}

const SESSION = 'ada/c1';

/** Web, workers and pages of one chat. */
class World {
  readonly store = new MemorySessionStore();
  private readonly channel = new MemorySessionChannel();
  private readonly driver: Driver;
  private readonly savePolicy: SavePolicy;
  private published = 0;
  private server: ChatServer | undefined;
  private worker: { readonly stop: () => Promise<void>; readonly die: () => void } | undefined;
  private port = 0;
  pages: Page[] = [];

  constructor(list: readonly Answer[], savePolicy: SavePolicy) {
    this.driver = modelOf(list);
    this.savePolicy = savePolicy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/api/chat`;
  }

  runtime(store: SessionStore): SessionRuntime {
    const channel = lossyChannel(this.channel.connect(), () => this.published++ % 7 === 6);
    const inferenceRetry = { maxElapsedSeconds: 0, onExhausted: 'fail' as const };
    const loop = createAgentLoop({ driver: this.driver, tools, inferenceRetry });
    const { savePolicy } = this;
    return new SessionRuntime({ store, channel, agents: { guide: loop }, savePolicy, leaseSeconds: 0.4 });
  }

  async startWeb(): Promise<void> {
    await this.server?.[Symbol.asyncDispose]();
    const channel = this.channel.connect();
    const engine = { wake: async () => undefined }; // the worker sweeps
    const authorize = () => ({ owner: 'ada' });
    const runtime = this.runtime(this.store);
    const limits = { requestsPerMinute: 1_000_000, readsPerMinute: 1_000_000, streams: 1_000 };
    const mayDecide = () => true;
    const handler = chatHandler({ runtime, engine, channel, agent: 'guide', authorize, mayDecide, limits });
    this.server = await ChatServer.start(handler, this.port);
    this.port = Number(new URL(this.server.url).port);
  }

  async startWorker(): Promise<void> {
    const { store, die } = processStore(this.store);
    const runtime = this.runtime(store);
    const engine = new InProcessEngine();
    const served = await engine.serve((id, options) => runtime.advance(id, options), {
      onError: () => undefined,
    });
    const timer = setInterval(
      () => void sweep(store, engine, { againAfterSeconds: 0.05 }).catch(() => 0),
      10,
    );
    const end = (): void => clearInterval(timer);
    this.worker = { stop: async () => (end(), served.stop()), die: () => (end(), die()) };
  }

  openPages(count: number): void {
    while (this.pages.length < count) this.pages.push(new Page(this.url));
  }

  /** Closes a page, and opens it again. */
  reload(page: Page): void {
    page.close();
    this.pages = this.pages.with(this.pages.indexOf(page), new Page(this.url, page.sent));
  }

  async perform(act: Act, number: number): Promise<void> {
    const page = this.pages[number % 2] as Page;
    switch (act) {
      case 'send':
      case 'sendElsewhere':
        page.send(`m${number}`);
        return turns(number % 5);
      case 'decide':
        return page.decide();
      case 'stop':
        return void page.transport.stop('c1').catch(() => false);
      case 'regenerate':
        return page.regenerate();
      case 'edit':
        return page.edit(`e${number}`);
      case 'cut':
        this.server?.cut();
        return turns(number % 11);
      case 'reload':
        this.reload(page);
        return turns(3);
      case 'replaceWeb':
        return this.startWeb();
      case 'killWorker':
        this.worker?.die();
        return this.startWorker();
      case 'pause':
        return turns(20);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const page of this.pages) page.close();
    await this.worker?.stop();
    await this.server?.[Symbol.asyncDispose]();
  }
}

/** A page of the chat with the chat of the AI SDK. */
class Page {
  readonly transport: HoldfastChatTransport;
  readonly chat: TestChat;
  readonly close: () => void;
  /** The texts that a person has sent from here. */
  readonly sent: string[];
  /** The ids of messages that the server has not confirmed. The id of a new one is its text. */
  private readonly unsent = new Set<string>();

  constructor(api: string, sent: string[] = []) {
    this.transport = new HoldfastChatTransport({ api, onSent: ({ id }) => void this.unsent.delete(id) });
    const { transport } = this;
    this.sent = sent;
    const sendAutomaticallyWhen = transport.hasNewAnswers;
    this.chat = new TestChat({ id: 'c1', transport, sendAutomaticallyWhen, onError: () => undefined });
    this.close = transport.attach(this.chat);
  }

  send(text: string): void {
    this.sent.push(text);
    this.unsent.add(text);
    void this.chat.sendMessage({ id: text, role: 'user', parts: [{ type: 'text', text }] });
  }

  /** Takes back what a stop has kept from the server. Returns true when the page must be loaded again. */
  takeBack(known: readonly UIMessage[]): boolean {
    const isKnown = (id: string): boolean => known.some((message) => message.id === id);
    const isIdle = this.chat.status === 'ready' || this.chat.status === 'error';
    const withdrawn = this.chat.messages.filter(({ id }) => this.unsent.has(id));
    if (!isIdle || withdrawn.length === 0) return false;
    for (const { id } of withdrawn) {
      this.unsent.delete(id);
      if (this.sent.includes(id) && !isKnown(id)) this.sent.splice(this.sent.indexOf(id), 1);
    }
    return true;
  }

  /** Decides on each call that waits in this page. */
  async decide(): Promise<void> {
    const response = this.chat.messages.findLast(({ role }) => role === 'assistant');
    for (const part of response?.parts ?? []) {
      if (!('toolCallId' in part)) continue;
      if (part.state === 'approval-requested')
        await this.chat.addToolApprovalResponse({
          id: part.approval.id,
          approved: part.toolCallId.length % 2 === 0,
        });
      const isQuestion = part.type === 'tool-ask' && part.state === 'input-available';
      if (isQuestion)
        await this.chat.addToolOutput({ tool: 'ask', toolCallId: part.toolCallId, output: 'Flåm' });
    }
  }

  regenerate(): void {
    if (this.chat.messages.some(({ role }) => role === 'assistant'))
      void this.chat.regenerate().catch(() => undefined);
  }

  edit(text: string): void {
    const messageId = this.chat.messages.findLast(({ role }) => role === 'user')?.id;
    if (messageId === undefined) return;
    this.unsent.add(messageId);
    void this.chat.sendMessage({ text, messageId }).catch(() => undefined);
  }
}

function shownBy(messages: readonly UIMessage[]): unknown {
  const shown = withoutSteered(messages).map(({ id, role, parts }) => ({ id, role, parts }));
  return JSON.parse(JSON.stringify(shown));
}

/** The acts by which a user discards messages, or closes a page before the server has them. */
const DISCARDS: readonly Act[] = ['edit', 'regenerate', 'reload'];

function hasEach(texts: readonly string[]): (json: string) => boolean {
  return (json) => texts.every((text) => json.includes(`"${text}"`));
}

// In the long form a thousand conversations, with about 7,000 cuts.
test(
  'pages end with the messages of the saved session, and with each message that was sent, whatever happens on the way',
  { timeout: 3_600_000 },
  async () => {
    let cuts = 0;
    const property = fc.asyncProperty(acts, answers, policies, async (list, script, policy) => {
      await using world = new World(script, policy);
      await world.startWeb();
      await world.startWorker();
      world.openPages(2);
      const [first] = world.pages;
      first?.send('hello');
      for (const [number, act] of list.entries()) {
        if (act === 'cut') cuts++;
        await world.perform(act, number);
      }
      await vi.waitFor(
        async () => {
          for (const page of world.pages) await page.decide();
          const session = await world.store.load(SESSION);
          const { waitingItems } = await world.store.inspect(SESSION);
          expect(session?.state.hasActiveExecution).toBe(false);
          expect(waitingItems).toBe(0);
          const known = toUIMessages(session?.state as never);
          for (const page of world.pages) if (page.takeBack(known)) world.reload(page);
          const wanted = shownBy(known);
          const isKept = !list.some((act) => DISCARDS.includes(act));
          const sent = isKept ? world.pages.flatMap((page) => page.sent) : [];
          expect(JSON.stringify(wanted)).toSatisfy(hasEach(sent));
          for (const { chat } of world.pages) {
            expect(chat.status).toMatch(/ready|error/);
            expect(shownBy(chat.messages)).toEqual(wanted);
          }
        },
        { timeout: 300_000, interval: 10 },
      );
    });
    await fc.assert(property, { numRuns: EFFORT === 1 ? 20 : 50 * EFFORT, endOnFailure: true });
    expect(cuts).toBeGreaterThan(0);
  },
);
