import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A bank on a free port of this machine. It books at once, and answers when it likes. */
export interface Bank {
  readonly url: string;
  /** Resolves when so many requests are booked and wait for their answers. */
  untilWaiting(count: number): Promise<void>;
  /** From now on it answers. */
  answer(): void;
  /** How many requests for something there were, and how often it was done. */
  counts(what: string): { readonly requests: number; readonly done: number };
  close(): void;
}

export async function startBank(): Promise<Bank> {
  const requests: string[] = [];
  const booked: { readonly what: string; readonly key: string | undefined }[] = [];
  const waiting: ServerResponse[] = [];
  let [isAnswering, wake] = [false, (): void => undefined];

  /** A payment of a key that is known is not made again. All else is done as often as it is asked for. */
  const book = (what: string, key: string | undefined): void => {
    const isKnown = what === 'pay' && booked.some((entry) => entry.what === what && entry.key === key);
    if (!isKnown) booked.push({ what, key });
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const [, what = '', id] = (request.url ?? '').split('/');
    const key = request.headers['idempotency-key']?.toString();
    requests.push(what);
    if (request.method === 'POST') book(what, key);
    if (isAnswering) {
      const found = booked.find((entry) => entry.what === what && entry.key === (id ?? key));
      response.end(JSON.stringify({ isDone: found !== undefined }));
    } else {
      waiting.push(response);
      wake();
    }
  };

  const server = createServer(onRequest).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    untilWaiting: (count) =>
      new Promise((resolve) => {
        wake = () => void (waiting.length >= count && resolve());
        wake();
      }),
    answer: () => void (isAnswering = true),
    counts: (what) => ({
      requests: requests.filter((request) => request === what).length,
      done: booked.filter((entry) => entry.what === what).length,
    }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
