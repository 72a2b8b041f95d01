import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpError } from './http.ts';

const localNames = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * Accepts only requests from this machine's own page: the server answers to local names alone (else another
 * page could reach it under a name of its own), and writes from pages of another origin are refused.
 * @throws HttpError 403.
 */
export function guardRequest({ method = 'GET', headers }: IncomingMessage): void {
  const host = headers.host ?? '';
  const name = host.replace(/:\d+$/, '').toLowerCase();
  if (!localNames.has(name)) {
    throw new HttpError(
      403,
      `This server answers to localhost only, not to ${JSON.stringify(host.slice(0, 100))}.`,
    );
  }
  if (method === 'GET' || method === 'HEAD') return;
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  const isForeign = origin !== undefined && origin !== `http://${host}`;
  if (isForeign || (site !== undefined && site !== 'same-origin' && site !== 'none')) {
    throw new HttpError(403, 'Requests from pages of another origin are refused.');
  }
}

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers that every answer carries. */
export function setSecurityHeaders(response: ServerResponse): void {
  response.setHeader('content-security-policy', policy);
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('referrer-policy', 'no-referrer');
  response.setHeader('cross-origin-opener-policy', 'same-origin');
  response.setHeader('cross-origin-resource-policy', 'same-origin');
}
