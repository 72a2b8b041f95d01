import { FaultProxy, type WireProtocol } from '@holdfast/conformance/proxy';
import { throttled } from './request-proxy.ts';

const HEAD_END = '\r\n\r\n';

/** A request of HTTP/1.1 with a content length. */
const scanRequest: WireProtocol['scanRequest'] = () => (data) => {
  const end = data.indexOf(HEAD_END);
  if (end < 0) return undefined;
  const length = /^content-length: *(\d+)/im.exec(data.toString('latin1', 0, end))?.[1] ?? 0;
  return end + HEAD_END.length + Number(length);
};

function throttle(): string {
  const { status, body } = throttled();
  const headers = `content-type: application/x-amz-json-1.0\r\ncontent-length: ${Buffer.byteLength(body)}`;
  return `HTTP/1.1 ${status} Bad Request\r\n${headers}${HEAD_END}${body}`;
}

/** Starts a proxy to the database that adds the name of each operation to a list. */
export function dynamoDbProxy(endpoint: string, operations: string[]): Promise<FaultProxy> {
  const { hostname: host, port } = new URL(endpoint);
  return FaultProxy.open({
    target: { host, port: Number(port) },
    protocol: {
      scanRequest,
      isCounted: (request) => operations.push(operationOf(request)) > 0,
      throttle: { reply: throttle() },
    },
  });
}

function operationOf(request: Buffer): string {
  const head = request.toString('latin1', 0, request.indexOf(HEAD_END));
  return /^x-amz-target: *[^.\r]*\.(\w+)/im.exec(head)?.[1] ?? '';
}
