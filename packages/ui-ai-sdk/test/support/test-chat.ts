import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  type ChatTransport,
  type UIMessage,
  type UIMessageChunk,
} from 'ai';

/** The chat of the AI SDK as a page uses it, without React. */
export class TestChat extends AbstractChat<UIMessage> {
  constructor(init: ChatInit<UIMessage>) {
    super({ ...init, state: new TestState(init.messages ?? []) });
  }
}

class TestState implements ChatState<UIMessage> {
  status: ChatState<UIMessage>['status'] = 'ready';
  error: Error | undefined;
  messages: UIMessage[];

  constructor(messages: UIMessage[]) {
    this.messages = messages;
  }

  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.messages, message];
  };
  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.messages.with(index, structuredClone(message));
  };
  snapshot = <T>(thing: T): T => structuredClone(thing);
}

/** A server that answers each request with a list of chunks. A stream can break off, as when the network is lost. */
export class TestTransport implements ChatTransport<UIMessage> {
  readonly resumeStreamIsReplay = true;
  private readonly streams: { readonly chunks: readonly UIMessageChunk[]; readonly isBroken: boolean }[] = [];

  /** Sets the stream of the next request. */
  next(chunks: readonly UIMessageChunk[], { isBroken = false } = {}): void {
    this.streams.push({ chunks, isBroken });
  }

  sendMessages = async (): Promise<ReadableStream<UIMessageChunk>> => this.stream();
  reconnectToStream = async (): Promise<ReadableStream<UIMessageChunk>> => this.stream();

  private stream(): ReadableStream<UIMessageChunk> {
    const { chunks, isBroken } = this.streams.shift() ?? { chunks: [], isBroken: false };
    const all = chunks.map((chunk) => JSON.parse(JSON.stringify(chunk)) as UIMessageChunk);
    return new ReadableStream({
      async pull(controller) {
        const chunk = all.shift();
        if (chunk) controller.enqueue(chunk);
        else if (isBroken) controller.error(new TypeError('network error'));
        else controller.close();
      },
    });
  }
}
