import { FaultProxy, type ProxyTarget, type WireProtocol } from '@holdfast/conformance/proxy';

/** The server executes this instead of a throttled command. */
const REFUSAL = `return redis.error_reply('LOADING Redis is loading the dataset in memory')`;

/** Handshakes and INFO do not count. TIME counts together with the reads that follow it. */
const COUNTED = new Set(['eval', 'evalsha', 'time', 'wait']);

/** RESP: `*2\r\n$3\r\nGET\r\n$1\r\na\r\n`. The client sends commands before earlier replies arrive. */
const PROTOCOL: WireProtocol = {
  scanRequest() {
    let end = 0;
    let left: number | undefined;
    return (data) => {
      const words = left === undefined ? lineAt(data, 0) : undefined;
      if (words) [left, end] = [words.number, words.end];
      for (; left !== undefined && left > 0; left--) {
        const word = lineAt(data, end);
        if (!word || word.end + word.number + 2 > data.length) return undefined;
        end = word.end + word.number + 2;
      }
      return left === 0 ? end : undefined;
    };
  },
  isCounted: (request) => COUNTED.has(nameOf(request)),
  throttle: { request: toBytes('EVAL', REFUSAL, '0') },
  echo: (mark) => toBytes('ECHO', mark),
};

/** Starts a proxy to a Redis server. */
export function redisProxy(target: ProxyTarget): Promise<FaultProxy> {
  return FaultProxy.open({ target, protocol: PROTOCOL });
}

/** Reads the number of a line such as `*2` or `$3`. */
function lineAt(data: Buffer, start: number): { readonly number: number; readonly end: number } | undefined {
  const end = data.indexOf('\r\n', start);
  return end < 0 ? undefined : { number: Number(data.toString('latin1', start + 1, end)), end: end + 2 };
}

function nameOf(request: Buffer): string {
  return request.toString('latin1', 0, 64).split('\r\n')[2]?.toLowerCase() ?? '';
}

function toBytes(...args: readonly string[]): string {
  const bulk = args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`);
  return `*${args.length}\r\n${bulk.join('')}`;
}
