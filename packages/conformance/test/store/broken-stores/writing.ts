import { applySavePlan, type SessionContent, type SavePlan } from '@holdfast/core/store';
import type { StoreParts } from '../map-store.ts';

/** Replaces the way in which a plan is applied to values and lists. */
const applying = (
  apply: (saved: SessionContent | undefined, plan: SavePlan) => SessionContent,
): StoreParts => ({
  ways: { applySavePlan: apply },
});

/** Defects in writing the content of a session. */
export const writing: Readonly<Record<string, StoreParts>> = {
  'saves the end of a list that was replaced': applying((saved, plan) => {
    const next = applySavePlan(saved, plan);
    const lists = new Map(next.lists);
    for (const { name, keep, append } of plan.isWhole ? [] : plan.lists) {
      const rest = saved?.lists.get(name)?.slice(keep + append.length) ?? [];
      if (keep + append.length > 0) lists.set(name, [...(next.lists.get(name) ?? []), ...rest]);
    }
    return { ...next, lists };
  }),
  'saves the previous content when a save replaces all of it': applying((saved, plan) => {
    const { values, lists } = applySavePlan(undefined, { ...plan, lists: plan.isWhole ? plan.lists : [] });
    if (!plan.isWhole) return applySavePlan(saved, plan);
    const all = new Map(saved?.lists);
    for (const [name, texts] of lists)
      all.set(name, [...texts, ...(all.get(name)?.slice(texts.length) ?? [])]);
    return { head: plan.head, values, lists: all };
  }),
  'does not write a changed value': applying((saved, plan) => {
    const next = applySavePlan(saved, plan);
    return {
      ...next,
      values: plan.isWhole ? next.values : new Map([...next.values, ...(saved?.values ?? [])]),
    };
  }),
  'writes only the first thousand elements': applying((saved, plan) =>
    applySavePlan(saved, {
      ...plan,
      lists: plan.lists.map((change) => ({ ...change, append: change.append.slice(0, 1_000) })),
    }),
  ),
  'stores lists in an object by their names': applying((saved, plan) => {
    const next = applySavePlan(saved, plan);
    const object: Record<string, readonly string[]> = {};
    for (const [name, texts] of next.lists) object[name.replace('messages:', '')] = texts;
    const lists = new Map(
      Object.entries(object).map(([name, texts]) => [nameOf(name, next), texts] as const),
    );
    return { ...next, lists };
  }),
  'decodes empty objects as arrays': texts((text) => text.replaceAll('{}', '[]')),
  'renames a member __proto__': texts((text) => text.replaceAll('"__proto__"', '"proto"')),
  'replaces characters that UTF-8 cannot encode': texts((text) =>
    text.replaceAll(/\\ud[89a-f][0-9a-f]{2}/gu, '\\ufffd'),
  ),
  'drops NUL': texts((text) => text.replaceAll('\\u0000', '')),
  'drops byte order marks': texts((text) => text.replaceAll('\ufeff', '')),
  'stores numbers as floats of 32 bits': texts((text) =>
    text.replaceAll(/(?<=[:,[])-?[\d.]+(?:e[+-]?\d+)?(?=[,\]}])/gu, (number) =>
      Number(number) > 1e12 && Number(number) < 2e12 ? number : String(Math.fround(Number(number))),
    ),
  ),
  'decodes texts of 64-bit integers as numbers': texts((text) =>
    text.replaceAll(/"(-?\d{19})"/gu, (_, digits: string) => `"${Number(digits)}"`),
  ),
  'replaces emoji': texts((text) => text.replaceAll(/[\u{1f000}-\u{1ffff}]/gu, '?')),
  'doubles quotes': texts((text) => text.replaceAll("'", "''")),
  'cannot decode JSON that is nested deeper than 512': {
    client: (backend) => ({
      async compareAndSet(id, before, after, change) {
        if (/\[{512}|(?:\[\{"inner":){256}/u.test(textsOf(change.plan))) throw new Error('Nested too deep.');
        return backend.compareAndSet(id, before, after, change);
      },
    }),
  },
  'accepts values of up to 400 KB': {
    client: (backend) => ({
      async compareAndSet(id, before, after, change) {
        if (textsOf(change.plan).length > 400_000)
          throw new Error('Item size has exceeded the maximum allowed size.');
        return backend.compareAndSet(id, before, after, change);
      },
    }),
  },
  'stores files up to 64 KB': texts((text) =>
    text.replaceAll(/"data":"([^"]{65536})[^"]*"/gu, (_, data: string) => `"data":"${data}"`),
  ),
  'compares item ids up to NUL': {
    ways: {
      isDuplicate: (inbox, id) =>
        [...inbox.values()].some((item) => item.id.split('\0')[0] === id.split('\0')[0]),
    },
  },
  'uses the text of an earlier item for the next one': {
    ways: {
      inbox(before, { enqueue, acknowledge = [] }) {
        const inbox = new Map(before);
        const { json } = [...before.values()].at(-1) ?? {};
        if (enqueue) inbox.set(enqueue.position, { ...enqueue, json: json ?? enqueue.json });
        for (const { position } of acknowledge) inbox.delete(position);
        return inbox;
      },
    },
  },
  'ignores the case of session ids': { ways: { keyOf: (id) => id.toLowerCase() } },
  'normalises session ids': { ways: { keyOf: (id) => id.normalize() } },
  'compares the first 255 characters of session ids': { ways: { keyOf: (id) => id.slice(0, 255) } },
};

/** Changes every stored text of a list or a value. */
function texts(decoded: (text: string) => string): StoreParts {
  return applying((saved, plan) => {
    const next = applySavePlan(saved, plan);
    return {
      head: next.head,
      values: new Map([...next.values].map(([name, text]) => [name, decoded(text)])),
      lists: new Map([...next.lists].map(([name, all]) => [name, all.map(decoded)])),
    };
  });
}

function textsOf(plan: SavePlan | undefined): string {
  return plan ? [...plan.values.values(), ...plan.lists.flatMap(({ append }) => append)].join('\n') : '';
}

function nameOf(name: string, { lists }: SessionContent): string {
  return lists.has(`messages:${name}`) ? `messages:${name}` : name;
}
