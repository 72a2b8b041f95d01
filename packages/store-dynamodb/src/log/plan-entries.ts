import { SessionTooLargeError, StateFormatError } from '@holdfast/core';
import type { ListChange, SessionContent, SavePlan } from '@holdfast/core/store';

/** The largest message, step, value or archive entry, in bytes of JSON. */
export const MAX_VALUE_BYTES = 64 * 1024 * 1024;
/** A plan with more JSON, in UTF-16 code units, is split into several entries. */
const ENTRY_LENGTH = 8 * 1024 * 1024;

/**
 * Checks the size of each text of a plan.
 * @throws SessionTooLargeError `SESSION_TOO_LARGE` for a text of more than `MAX_VALUE_BYTES`
 */
export function checkTextSizes(sessionId: string, { head, values, lists }: SavePlan): void {
  const check = (text: string): void => checkTextSize(sessionId, text);
  check(head);
  for (const text of values.values()) if (text !== undefined) check(text);
  for (const { append } of lists) append.forEach(check);
}

/** @throws SessionTooLargeError `SESSION_TOO_LARGE` for a text of more than `MAX_VALUE_BYTES` */
export function checkTextSize(sessionId: string, text: string): void {
  if (text.length * 3 <= MAX_VALUE_BYTES) return;
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_VALUE_BYTES) throw new SessionTooLargeError(sessionId, bytes, MAX_VALUE_BYTES);
}

/** Splits a plan into several plans of about `ENTRY_LENGTH`. Applied in order, they have the same effect. */
export function splitPlan(plan: SavePlan): SavePlan[] {
  const { head } = plan;
  const plans: SavePlan[] = [];
  let lists: ListChange[] = [];
  let length = head.length;
  for (const text of plan.values.values()) length += text?.length ?? 0;
  const end = (): void => {
    const first = plans.length === 0;
    plans.push({ isWhole: plan.isWhole && first, head, values: first ? plan.values : new Map(), lists });
    [lists, length] = [[], head.length];
  };
  for (const { name, keep, append } of plan.lists) {
    let from = 0;
    for (const [index, text] of append.entries()) {
      if (length + text.length > ENTRY_LENGTH && index + lists.length > from) {
        if (index > from) lists.push({ name, keep: keep + from, append: append.slice(from, index) });
        end();
        from = index;
      }
      length += text.length;
    }
    lists.push({ name, keep: keep + from, append: append.slice(from) });
  }
  end();
  return plans;
}

/** A plan that writes the whole session. */
export function wholePlan({ head, values, lists }: SessionContent): SavePlan {
  const changes = [...lists].map(([name, append]) => ({ name, keep: 0, append }));
  return { isWhole: true, head, values, lists: changes };
}

export function planToJson({ isWhole, head, values, lists }: SavePlan): string {
  return JSON.stringify([
    isWhole,
    head,
    [...values].map(([name, text]) => [name, text ?? null]),
    lists.map(({ name, keep, append }) => [name, keep, append]),
  ]);
}

type PlanJson = readonly [
  isWhole: boolean,
  head: string,
  values: readonly (readonly [string, string | null])[],
  lists: readonly (readonly [string, number, readonly string[]])[],
];

/**
 * Reads a plan from its JSON.
 * @throws StateFormatError `STATE_FORMAT` when the JSON is not a plan
 */
export function planFromJson(json: unknown, what: string): SavePlan {
  if (!isPlanJson(json)) throw new StateFormatError(what, 'a save plan', 'other JSON');
  const [isWhole, head, values, lists] = json;
  return {
    isWhole,
    head,
    values: new Map(values.map(([name, text]) => [name, text ?? undefined])),
    lists: lists.map(([name, keep, append]) => ({ name, keep, append })),
  };
}

function isPlanJson(json: unknown): json is PlanJson {
  if (!Array.isArray(json)) return false;
  const [isWhole, head, values, lists] = json as unknown[];
  return (
    typeof isWhole === 'boolean' && typeof head === 'string' && Array.isArray(values) && Array.isArray(lists)
  );
}
