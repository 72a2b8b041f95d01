import type { Page } from 'playwright-core';

/** The page of an example chat, as a user sees it. */
export class ChatPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async send(text: string): Promise<void> {
    await this.page.getByLabel('Message').fill(text);
    await this.click('Send');
  }

  click(button: string): Promise<void> {
    return this.page.getByRole('button', { name: button }).click();
  }

  /** Waits until the page shows a button. */
  offers(button: string): Promise<void> {
    return this.page.getByRole('button', { name: button }).waitFor();
  }

  /** Waits until the last response contains a text. */
  says(text: string): Promise<void> {
    return this.page.locator('article.assistant:last-of-type', { hasText: text }).waitFor();
  }

  /** Waits until no response is at work, and returns the texts of the messages. */
  async texts(): Promise<string[]> {
    await this.page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    return this.page.locator('article').allInnerTexts();
  }
}
