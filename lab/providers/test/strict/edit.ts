import type { Path } from '../../src/strict/view.ts';

/** A copy of a body with this value at this path. */
export function setAt<Body>(body: Body, path: Path, value: unknown): Body {
  return edited(body, path, (parent, step) => {
    parent[step as never] = value;
  });
}

/** A copy of a body without the value at this path. */
export function removeAt<Body>(body: Body, path: Path): Body {
  return edited(body, path, (parent, step) => {
    if (Array.isArray(parent)) parent.splice(Number(step), 1);
    else delete parent[step as never];
  });
}

/** A copy of a body with this value before the element at this path. */
export function insertAt<Body>(body: Body, path: Path, value: unknown): Body {
  return edited(body, path, (parent, step) => {
    if (Array.isArray(parent)) parent.splice(Number(step), 0, value);
  });
}

/** The value at a path. */
export function valueAt(body: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], body);
}

type Parent = unknown[] & Record<string, unknown>;

function edited<Body>(body: Body, path: Path, edit: (parent: Parent, step: string | number) => void): Body {
  const copy = structuredClone(body);
  const step = path.at(-1);
  const parent = valueAt(copy, path.slice(0, -1));
  if (step === undefined || typeof parent !== 'object' || parent === null) {
    throw new Error(`No value has the place ${path.join('.')}.`);
  }
  edit(parent as Parent, step);
  return copy;
}
