import type { MiddlewareHandler } from 'hono';

const localNames = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * Accepts only requests from this machine's own page: the server answers to local names alone (else another
 * page could reach it under a name of its own), and writes from pages of another origin are refused.
 */
export const guardRequest: MiddlewareHandler = async (context, next) => {
  const refusal = refusalOf(context.req.raw);
  if (refusal === undefined) return next();
  return context.json({ error: { code: 'REQUEST_REFUSED', message: refusal } }, 403);
};

function refusalOf({ method, headers }: Request): string | undefined {
  const host = headers.get('host') ?? '';
  const name = host.replace(/:\d+$/, '').toLowerCase();
  if (!localNames.has(name))
    return `This server answers to localhost only, not to ${JSON.stringify(host.slice(0, 100))}.`;
  if (method === 'GET' || method === 'HEAD') return undefined;
  const origin = headers.get('origin');
  const site = headers.get('sec-fetch-site');
  const isForeign = origin !== null && origin !== `http://${host}`;
  if (isForeign || (site !== null && site !== 'same-origin' && site !== 'none'))
    return 'Requests from pages of another origin are refused.';
  return undefined;
}
