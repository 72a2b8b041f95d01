import { z } from 'zod';
import { digest, prefixOf } from '../issuer.ts';
import { ofType, textOf, type Part, type Turn, type View } from '../view.ts';
import { check, select, selector, type Violation } from './check.ts';

/**
 * Each signature is one that this server gave. `required`: none is missing, where the reasoning may have one. `text`:
 * it was given for this text. `allowed`: signatures that pass all the same.
 */
export const signed = check(
  z.strictObject({
    of: selector,
    required: z.boolean().optional(),
    text: z.boolean().optional(),
    allowed: z.array(z.string()).optional(),
  }),
  (view, { of, required = false, text = false, allowed = [] }, { issuer }) => {
    const [type = '', member = ''] = of.split('.');
    return view.turns.flatMap((turn) =>
      turn.parts
        .filter((part) => part.type === type)
        .filter((part) => {
          const signature = part.at[member]?.value;
          if (signature === undefined || signature === null) return required;
          if (allowed.includes(textOf(signature))) return false;
          const seal = issuer.read(signature);
          return (
            !seal ||
            (text &&
              seal.text !== digest(part.type === 'redacted' ? part.type : textOf(part.at['text']?.value)))
          );
        })
        .map((part): Violation => ({ path: part.path })),
    );
  },
);

/** Each signature was given for the system prompt, the tools and the messages that stand before it now. */
export const bound = check(z.strictObject({ of: selector }), (view, { of }, { issuer }) => {
  if (isDropped(view)) return [];
  const [type = '', member = ''] = of.split('.');
  return view.turns.flatMap(({ parts }, turn) =>
    parts.flatMap((part, index) => {
      if (part.type !== type) return [];
      const seal = issuer.read(part.at[member]?.value);
      return seal && seal.prefix !== prefixOf(view, turn, index) ? [{ path: part.path }] : [];
    }),
  );
});

/** True when the request asks the server to drop reasoning that does not fit. */
function isDropped({ body }: View): boolean {
  const thinking = body['thinking'] as { block_binding?: { prefix_mismatch_behavior?: unknown } } | undefined;
  return thinking?.block_binding?.prefix_mismatch_behavior === 'drop_block';
}

/** The last message of the model has all reasoning of its answer, or none. */
export const wholeReasoning = check(z.strictObject({}), ({ turns }, _, { issuer }) => {
  const last = turns.findLast(({ role }) => role === 'assistant');
  if (!last) return [];
  const seals = last.parts
    .filter(({ type }) => type === 'reasoning' || type === 'redacted')
    .flatMap(({ at }) => issuer.read(at['signature']?.value) ?? []);
  return seals.some(({ answer, size }) => seals.filter((seal) => seal.answer === answer).length < size)
    ? [{ path: last.path }]
    : [];
});

/** The last message of the model, when it has calls, starts with reasoning. */
export const leadingReasoning = check(z.strictObject({}), ({ turns }) => {
  const last = turns.findLast(({ role }) => role === 'assistant');
  const first = last?.parts[0];
  if (!last || !first || !ofType(last, 'call').length) return [];
  const isUnanswered = turns
    .slice(turns.indexOf(last) + 1)
    .every((turn) => ofType(turn, 'result').length > 0);
  const isReasoning = first.type === 'reasoning' || first.type === 'redacted';
  return isUnanswered && !isReasoning ? [{ path: first.path, fill: { found: foundAs(first) } }] : [];
});

function foundAs({ raw, type }: Part): string {
  return textOf(raw['type']) || type;
}

/** Since the last message of the user, the first call of each message has a signature. */
export const firstCallSigned = check(z.strictObject({}), ({ turns }) => {
  const start = turns.findLastIndex((turn) => turn.role === 'user' && !ofType(turn, 'result').length);
  return turns.slice(start + 1).flatMap((turn) => {
    const [call] = ofType(turn, 'call');
    return call && call.at['signature'] === undefined
      ? [{ path: call.path, fill: { value: textOf(call.at['name']?.value) } }]
      : [];
  });
});

/** The items of a request, with the ids that the server gave them. */
function itemsOf({ turns }: View): readonly Part[] {
  return turns.flatMap(({ parts, message }: Turn) => {
    const [first] = parts;
    return first && first.path === message.path ? [first] : [message];
  });
}

/** The id of an item. The `id` of a call is that of the call. */
function idOf({ at, type }: Part): unknown {
  return (type === 'message' ? at['id'] : at['item'])?.value;
}

/** A reasoning item is followed by the item that it was made with. */
export const reasoningFollowed = check(z.strictObject({}), (view, _, { issuer }) => {
  const items = itemsOf(view);
  return items.flatMap((item, index) => {
    const id = idOf(item);
    const known = issuer.itemOf(id);
    if (item.type !== 'reasoning' && known?.type !== 'reasoning') return [];
    const next = items[index + 1];
    const isFollowed = next !== undefined && view.turns[index + 1]?.role === 'assistant';
    const nextId = next && idOf(next);
    const fits = known?.following === undefined || nextId === undefined || nextId === known.following;
    return isFollowed && fits ? [] : [{ path: item.path, fill: { id: textOf(id), type: 'reasoning' } }];
  });
});

/** An item that was made with reasoning stands after that reasoning, or has no id. */
export const itemReasoned = check(z.strictObject({}), (view, _, { issuer }) => {
  const items = itemsOf(view);
  return items.flatMap((item, index) => {
    const known = issuer.itemOf(idOf(item));
    if (known?.reasoning === undefined) return [];
    const before = items[index - 1];
    return before && idOf(before) === known.reasoning
      ? []
      : [{ path: item.path, fill: { id: textOf(idOf(item)), type: known.type, needed: known.reasoning } }];
  });
});

/** A reference names an item that the server keeps. */
export const referencesKnown = check(z.strictObject({}), (view, _, { issuer }) =>
  select(view, 'reference.item')
    .filter(({ value }) => view.body['store'] === false || !issuer.itemOf(value))
    .map(({ path, value }) => ({ path, fill: { id: textOf(value) } })),
);
