import type { UIMessage } from 'ai';
import type { BrowserContext, Page } from 'playwright-core';
import { until } from 'test-servers';
import type { Shown } from '../../../src/chats/page/chat-view.tsx';

/** A tab with a chat. */
export class ChatPage {
  /** The errors that the page did not catch. */
  readonly errors: readonly string[];
  private readonly page: Page;

  private constructor(page: Page) {
    this.page = page;
    const errors: string[] = [];
    this.errors = errors;
    page.on('pageerror', ({ message }) => errors.push(message));
  }

  static async open(context: BrowserContext, url: string): Promise<ChatPage> {
    const page = await context.newPage();
    page.setDefaultTimeout(300_000);
    const opened = new ChatPage(page);
    await page.goto(url);
    await opened.isReady();
    return opened;
  }

  async reload(): Promise<void> {
    await this.page.reload();
    await this.isReady();
  }

  /** Returns what the page shows now. */
  async shown(): Promise<Shown> {
    return json(await this.page.evaluate('window.shown')) as Shown;
  }

  /** Sends a message; with `edits`, in place of the last message of the user. */
  async send(text: string, button: 'Send' | 'Edit' = 'Send'): Promise<void> {
    await this.page.getByLabel('Message').fill(text);
    await this.press(button);
  }

  async press(button: 'Send' | 'Edit' | 'Regenerate' | 'Stop' | 'Approve' | 'Deny'): Promise<void> {
    await this.page.getByRole('button', { name: button }).last().click();
  }

  /** Holds the next POST request of the page back. Returns the functions that wait for it and that let it go. */
  async holdPost(): Promise<{ readonly isHeld: Promise<void>; readonly release: () => void }> {
    const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await this.page.route('**/api/chat?*', async (route) => {
      held.resolve();
      await released.promise;
      await route.continue();
    });
    return { isHeld: held.promise, release: released.resolve };
  }

  /** Waits until the text of the last response is as given. */
  async showsText(text: string): Promise<void> {
    await this.shows(`the text ${JSON.stringify(text)}`, (messages) => lastText(messages) === text);
  }

  /** Waits until the last call of a tool has a state. */
  async showsCall(tool: string, state: string): Promise<void> {
    await this.shows(`a call of ${tool} with ${state}`, (messages) => {
      const parts = messages.at(-1)?.parts ?? [];
      return parts.some((part) => part.type === `tool-${tool}` && 'state' in part && part.state === state);
    });
  }

  async shows(what: string, isSo: (messages: readonly UIMessage[], shown: Shown) => boolean): Promise<void> {
    await until(`the page shows ${what}`, async () => {
      const shown = await this.shown();
      return isSo(shown.messages, shown);
    });
  }

  private async isReady(): Promise<void> {
    await this.page.waitForFunction('window.shown?.messages');
  }
}

/** Returns the text of the last response. */
export function lastText(messages: readonly UIMessage[]): string | undefined {
  const parts = messages.findLast(({ role }) => role === 'assistant')?.parts;
  return parts?.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

export function json(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
