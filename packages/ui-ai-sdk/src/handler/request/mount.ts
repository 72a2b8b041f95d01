import { isObject } from '../../json/is-same-value.ts';

/** The request of a framework in the style of Express, beside the `Request` that a converter made of it. */
export interface MountedRequest {
  /** The path before the framework removed that of a mount; `undefined` when it removed none. */
  readonly originalPath: string | undefined;
  /** The body, if a parser of the framework has read it. */
  readonly body: unknown;
}

/**
 * Reads the request of Node.js beside a `Request`, as `getRequestListener` of `@hono/node-server` passes it. `app.use(path,
 * listener)` of Express removes the path from its URL, and `express.json()` reads its body.
 */
export function mountedRequest(connection: unknown): MountedRequest {
  const incoming = isObject(connection) && isObject(connection['incoming']) ? connection['incoming'] : {};
  const { url, originalUrl, body } = incoming;
  const isMounted = typeof originalUrl === 'string' && originalUrl !== url;
  return { originalPath: isMounted ? originalUrl.split('?', 1)[0] : undefined, body };
}

/**
 * Returns the segments of the path behind that of the handler; `undefined` for another path. A mount can be at any path. A
 * slash at the end counts as none.
 */
export function segmentsBehind(
  path: string,
  { pathname }: URL,
  { originalPath }: MountedRequest,
): readonly string[] | undefined {
  const isOwn = (each: string | undefined): each is string =>
    each === path || each?.startsWith(`${path}/`) === true;
  const own = [originalPath, pathname].find(isOwn)?.slice(path.length);
  const behind = own ?? (originalPath === undefined ? undefined : pathname);
  return behind?.replace(/\/$/, '').split('/').slice(1).map(decoded);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
