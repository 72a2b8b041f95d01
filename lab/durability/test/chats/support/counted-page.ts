import { Chat } from '@ai-sdk/react';
import { HoldfastChatTransport } from '@holdfast/ui-ai-sdk/transport';
import type { UIMessage } from 'ai';
import { until } from 'test-servers';

/** A page without a browser that counts the bytes of the bodies that it receives. */
export class CountedPage implements Disposable {
  readonly chat: Chat<UIMessage>;
  bytes = 0;
  private readonly detach: () => void;

  constructor(url: string) {
    const transport = new HoldfastChatTransport({ api: `${url}/api/chat`, fetch: this.fetch });
    const sendAutomaticallyWhen = transport.hasNewAnswers;
    this.chat = new Chat({ id: 'c1', transport, sendAutomaticallyWhen });
    this.detach = transport.attach(this.chat);
  }

  /** Returns the bytes that arrive until the page is idle and a condition holds. */
  async bytesOf(work: () => void | PromiseLike<void>, isDone: () => boolean): Promise<number> {
    const before = this.bytes;
    await work();
    await until('the page is idle', () => this.chat.status === 'ready' && isDone());
    return this.bytes - before;
  }

  /** Returns the text of the last part of the last message. */
  get lastText(): string {
    const part = this.chat.lastMessage?.parts.at(-1);
    return part?.type === 'text' ? part.text : '';
  }

  [Symbol.dispose](): void {
    this.detach();
  }

  private readonly fetch = async (...request: Parameters<typeof fetch>): Promise<Response> => {
    const response = await fetch(...request);
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) => {
        this.bytes += piece.byteLength;
        controller.enqueue(piece);
      },
    });
    const { status, headers } = response;
    return new Response(response.body?.pipeThrough(counter) ?? null, { status, headers });
  };
}
