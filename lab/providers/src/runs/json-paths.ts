/** A difference between two JSON values: its path, such as `[1].body.messages[3].content`, and both values. */
export interface JsonDifference {
  readonly path: string;
  readonly sdk: unknown;
  readonly held: unknown;
}

/**
 * The smallest parts in which two JSON values differ. The order of members counts, because a prompt cache compares text;
 * members with the value `undefined` count as absent.
 */
export function differencesBetween(sdk: unknown, held: unknown, path = ''): readonly JsonDifference[] {
  if (Object.is(sdk, held)) return [];
  if (!isHolder(sdk) || !isHolder(held) || Array.isArray(sdk) !== Array.isArray(held))
    return [{ path, sdk, held }];
  const names = [...new Set([...Object.keys(sdk), ...Object.keys(held)])];
  const inside = names.flatMap((name) =>
    differencesBetween(sdk[name], held[name], Array.isArray(sdk) ? `${path}[${name}]` : joined(path, name)),
  );
  return isSameOrder(sdk, held) ? inside : [...inside, { path: `${path} (order)`, sdk, held }];
}

function isSameOrder(sdk: object, held: object): boolean {
  const shared = Object.keys(sdk).filter((name) => name in held);
  const others = Object.keys(held).filter((name) => name in sdk);
  return shared.every((name, index) => name === others[index]);
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

function isHolder(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
