import type { ResponseHeaders } from '@holdfast/core/driver';

/** The headers in which providers and clouds report the id of a request. The first that is present counts. */
const REQUEST_ID_HEADERS: readonly string[] = [
  'x-request-id',
  'request-id',
  'x-amzn-requestid',
  'x-amzn-request-id',
  'apim-request-id',
  'mistral-correlation-id',
  'x-debug-trace-id',
  'x-ds-trace-id',
  'x-vercel-id',
  'cf-ray',
];

/** The facts about the HTTP response that a step stores. */
export interface HttpFacts {
  readonly requestId?: string;
  readonly responseHeaders?: ResponseHeaders;
}

/** The facts about a response without headers. */
export const NO_FACTS: HttpFacts = Object.freeze({});

/** Returns the id of the request and the headers with these names, in lower case. */
export function httpFactsOf(headers: unknown, names: readonly string[]): HttpFacts {
  if (typeof headers !== 'object' || headers === null) return NO_FACTS;
  const found = lowerCaseHeaders(headers);
  const requestId = requestIdIn(found);
  const kept = names.flatMap((name) => {
    const value = found.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...(requestId !== undefined && { requestId }),
    ...(kept.length > 0 && { responseHeaders: Object.fromEntries(kept) }),
  };
}

/** Returns the provider's id of a request, from the headers of its response. */
export function requestIdOf(headers: object | undefined): string | undefined {
  return headers && requestIdIn(lowerCaseHeaders(headers));
}

/** True for the headers of an HTML document. */
export function isWebPage(headers: object | undefined): boolean {
  return typeOf(headers).startsWith('text/html');
}

/** True for the headers of a JSON document, which is no stream. */
export function isJsonDocument(headers: object | undefined): boolean {
  return /^application\/([\w.-]+\+)?json/.test(typeOf(headers));
}

function typeOf(headers: object | undefined): string {
  return (headers && lowerCaseHeaders(headers).get('content-type')?.toLowerCase()) ?? '';
}

function requestIdIn(headers: ReadonlyMap<string, string>): string | undefined {
  const name = REQUEST_ID_HEADERS.find((header) => headers.get(header));
  return name === undefined ? undefined : headers.get(name);
}

function lowerCaseHeaders(headers: object): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(headers))
    if (typeof value === 'string') found.set(name.toLowerCase(), value);
  return found;
}
