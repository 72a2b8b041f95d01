import type { Rule, StrictProfile } from '../../../src/strict/index.ts';
import { select, selectParts, type Selected } from '../../../src/strict/checks/check.ts';
import type { Members, Part, Path, View } from '../../../src/strict/view.ts';
import { insertAt, removeAt, setAt, valueAt } from '../edit.ts';

/** A request that a rule accepts, which a breaker breaks. */
export interface Whole {
  readonly rule: Rule;
  readonly profile: StrictProfile;
  readonly view: View;
  readonly body: Members;
}

/** Returns the body with one thing wrong. */
export type Breaker = (whole: Whole) => Members;

/** A parameter of the rule's check. */
export function parameter(rule: Rule, name: string): unknown {
  return rule.check[name];
}

/** The first selector of a rule. */
export function selectorOf({ rule }: Whole): string {
  return String([parameter(rule, 'of')].flat()[0]);
}

/** The scope of a rule. */
export function scopeOf({ rule }: Whole) {
  const names = ['role', 'with', 'without', 'last', 'end', 'open', 'unless', 'settled'];
  return Object.fromEntries(names.flatMap((name) => (name in rule.check ? [[name, rule.check[name]]] : [])));
}

/** The values that a rule looks at. */
export function valuesOf(whole: Whole): readonly Selected[] {
  return select(whole.view, selectorOf(whole), scopeOf(whole));
}

/** The first part of a type. */
export function firstPart({ view }: Whole, of: string, scope = {}): Part {
  const [found] = selectParts(view, of, scope);
  if (!found) throw new Error(`The request has no ${of}.`);
  return found.part;
}

/** Puts copies of an element behind it. */
export function repeated(body: Members, path: Path, times = 1): Members {
  const value = valueAt(body, path);
  return Array.from({ length: times }).reduce<Members>((copy) => insertAt(copy, path, value), body);
}

/** Sets a value; inside a `data:` address only what the rule is about. */
export function withValue(body: Members, { path, value, part }: Selected, next: unknown): Members {
  const now = valueAt(body, path);
  if (part.type !== 'file' || typeof now !== 'string' || !now.startsWith('data:'))
    return setAt(body, path, next);
  return setAt(body, path, now.replace(String(value), String(next)));
}

export { insertAt, removeAt, setAt, valueAt };
