import type { UIMessage } from 'ai';
import fc from 'fast-check';
import { webUrl } from '../../../../tools/config/vitest.properties.ts';

type UIPart = UIMessage['parts'][number];
type ToolPart = Extract<UIPart, { readonly toolCallId: string }>;

const texts = fc.string({ maxLength: 12 });
const someText = fc.string({ minLength: 1, maxLength: 12 });
const json = fc
  .oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant({ constructor: { prototype: 1 } }))
  .map(clean);
const metadata = fc.dictionary(fc.constantFrom('openai', 'google'), fc.dictionary(someText, texts), {
  minKeys: 1,
  noNullPrototype: true,
});

/** JSON as a page receives it. */
function clean(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

type Members = Readonly<Record<string, fc.Arbitrary<unknown>>>;

function record(required: Members, optional: Members = {}): fc.Arbitrary<object> {
  const all: Record<string, fc.Arbitrary<unknown>> = { ...required, ...optional };
  return fc.record(all, { requiredKeys: Object.keys(required), noNullPrototype: true });
}

const open = record({ state: fc.constant('streaming') }, { providerMetadata: metadata });
const done = record({ state: fc.constant('done') }, { providerMetadata: metadata });
const text = fc
  .tuple(fc.constantFrom('text', 'reasoning'), someText, fc.oneof(open, done))
  .map(([type, words, state]) => ({ type, text: words, ...state }));
const media = { mediaType: fc.constantFrom('image/png', 'text/csv'), url: webUrl };
const signed = { providerMetadata: metadata };
const others = fc.oneof(
  record({ type: fc.constantFrom('file', 'reasoning-file'), ...media }, signed),
  record({ type: fc.constant('source-url'), sourceId: texts, url: texts }, { title: texts, ...signed }),
  record(
    { type: fc.constant('source-document'), sourceId: texts, mediaType: texts, title: texts },
    { filename: texts, ...signed },
  ),
  record({ type: fc.constant('custom'), kind: fc.constant('openai.item') }, signed),
  record({ type: fc.constantFrom('data-price', 'data-map'), data: json }, { id: fc.constantFrom('a', 'b') }),
  fc.record(
    {
      type: fc.constant('steering-message'),
      id: fc.uuid(),
      parts: fc.array(record({ type: fc.constant('text'), text: texts }), { maxLength: 2 }),
    },
    { noNullPrototype: true },
  ),
);

const descriptor = fc.constant({ mayDecide: false });
const approval = record({ id: fc.constant('') }, { descriptor, requestReason: someText });
const decided = (approved: boolean) =>
  record({ id: fc.constant(''), approved: fc.constant(approved) }, { reason: texts });
const results = { resultProviderMetadata: metadata };
const callStates = fc.oneof(
  record({ state: fc.constant('input-streaming') }, { rawInput: someText }),
  record({ state: fc.constant('input-available'), input: json }),
  record({ state: fc.constant('approval-requested'), input: json, approval }),
  record({
    state: fc.constant('approval-responded'),
    input: json,
    approval: fc.oneof(decided(true), decided(false)),
  }),
  record(
    { state: fc.constant('output-available'), input: json, output: json },
    { approval: decided(true), ...results },
  ),
  record(
    { state: fc.constant('output-error'), input: json, errorText: texts },
    { approval: decided(true), ...results },
  ),
  record({ state: fc.constant('output-denied'), input: json, approval: decided(false) }),
);
const names = fc.constantFrom(
  { type: 'tool-add' },
  { type: 'tool-search' },
  { type: 'dynamic-tool', toolName: 'search' },
);
const origin = record({}, { providerExecuted: fc.constant(true), callProviderMetadata: metadata });
const calls = fc
  .tuple(names, fc.nat(5), callStates, origin)
  .map(([name, number, state, from]) => ({ ...name, toolCallId: `call-${number}`, ...from, ...state }));

/** Parts of every type, without their ids. */
const parts = fc.oneof(
  { weight: 3, arbitrary: text },
  { weight: 4, arbitrary: calls },
  { weight: 2, arbitrary: others },
) as fc.Arbitrary<UIPart>;

/** A change of a message. */
export type Change =
  /** An open step has open texts and inputs also when another step follows. */
  | { readonly type: 'append' | 'step' | 'openStep'; readonly parts: readonly UIPart[] }
  | {
      readonly type: 'text' | 'earlyText';
      readonly nth: number;
      readonly text: string;
      readonly isDone: boolean;
    }
  | { readonly type: 'otherText'; readonly nth: number; readonly to: object }
  | { readonly type: 'call' | 'earlyCall'; readonly nth: number; readonly to: object }
  | { readonly type: 'cutStep'; readonly keep: number; readonly parts: readonly UIPart[] }
  /** The last step is void, and another one begins in its place. */
  | { readonly type: 'dropStep'; readonly parts: readonly UIPart[] }
  | { readonly type: 'reconnect' }
  | { readonly type: 'metadata'; readonly metadata: object }
  | { readonly type: 'cut'; readonly keep: number }
  | { readonly type: 'replace'; readonly nth: number; readonly part: UIPart }
  | { readonly type: 'other'; readonly id: string };

const someParts = fc.array(parts, { maxLength: 3 });
const of = (weight: number, type: string, members: object = {}) => ({
  weight,
  arbitrary: fc.record(
    { type: fc.constant(type), ...members },
    { noNullPrototype: true },
  ) as fc.Arbitrary<Change>,
});
const growth = [
  of(4, 'append', { parts: someParts }),
  of(3, 'step', { parts: someParts }),
  of(4, 'text', { nth: fc.nat(3), text: texts, isDone: fc.boolean() }),
  of(6, 'call', { nth: fc.nat(3), to: callStates }),
  of(1, 'metadata', {
    metadata: fc.record({ status: fc.constantFrom('inProgress', 'completed'), cost: fc.double() }),
  }),
  of(2, 'reconnect'),
];
const setbacks = [
  of(2, 'otherText', { nth: fc.nat(3), to: text }),
  of(2, 'cutStep', { keep: fc.nat(3), parts: someParts }),
  of(2, 'dropStep', { parts: someParts }),
];
const damage = [
  of(2, 'openStep', { parts: someParts }),
  of(2, 'earlyText', { nth: fc.nat(6), text: texts, isDone: fc.boolean() }),
  of(4, 'earlyCall', { nth: fc.nat(6), to: callStates }),
  of(1, 'cut', { keep: fc.nat(6) }),
  of(1, 'replace', { nth: fc.nat(6), part: parts }),
  of(1, 'other', { id: fc.constantFrom('e1', 'e2') }),
  of(1, 'metadata', { metadata: fc.dictionary(fc.constantFrom('a', 'b'), json, { noNullPrototype: true }) }),
];

/** Changes after which a message has all that was closed before. */
export const growths = fc.array(fc.oneof(...growth, ...setbacks), { maxLength: 8, size: 'max' });
/** Any changes. */
export const anyChanges = fc.array(fc.oneof(...growth, ...setbacks, ...damage), {
  maxLength: 8,
  size: 'max',
});

export const firstParts = fc.array(parts, { minLength: 0, maxLength: 4 });

/** Returns a message after a change. */
export function changed(message: UIMessage, change: Change): UIMessage {
  const { parts: before } = message;
  const start = before.findLastIndex(({ type }) => type === 'step-start') + 1;
  switch (change.type) {
    case 'append':
      return { ...message, parts: [...before, ...change.parts] };
    case 'step':
      return { ...message, parts: [...closed(before), { type: 'step-start' }, ...change.parts] };
    case 'openStep':
      return { ...message, parts: [...before, { type: 'step-start' }, ...change.parts] };
    case 'cutStep':
      return { ...message, parts: [...before.slice(0, start + change.keep), ...change.parts] };
    case 'dropStep':
      return { ...message, parts: before.slice(0, Math.max(0, start - 1)) };
    case 'cut':
      return { ...message, parts: before.slice(0, change.keep) };
    case 'replace':
      return { ...message, parts: withPart(before, change.nth, () => change.part) };
    case 'text':
      return { ...message, parts: withPart(before, start + change.nth, (part) => grownText(part, change)) };
    case 'otherText':
      return {
        ...message,
        parts: withPart(before, start + change.nth, (part) => otherText(part, change.to)),
      };
    case 'earlyText':
      return { ...message, parts: withPart(before, change.nth, (part) => grownText(part, change)) };
    case 'call':
      return {
        ...message,
        parts: withPart(before, start + change.nth, (part) => grownCall(part, change.to)),
      };
    case 'earlyCall':
      return { ...message, parts: withPart(before, change.nth, (part) => grownCall(part, change.to)) };
    case 'metadata':
      return { ...message, metadata: change.metadata };
    case 'other':
      return { ...message, id: change.id };
    default:
      return message;
  }
}

function withPart(all: readonly UIPart[], nth: number, change: (part: UIPart) => UIPart): UIPart[] {
  return all.map((part, index) => (index === nth ? change(part) : part));
}

/** A step that another one follows has no open text and no open input. */
function closed(all: readonly UIPart[]): UIPart[] {
  return all.map((part): UIPart => {
    if (part.type === 'text' || part.type === 'reasoning') return { ...part, state: 'done' };
    if (!isCall(part) || part.state !== 'input-streaming') return part;
    return { ...withoutState(part), state: 'input-available', input: {} } as ToolPart;
  });
}

function grownText(
  part: UIPart,
  { text: added, isDone }: Extract<Change, { type: 'text' | 'earlyText' }>,
): UIPart {
  if ((part.type !== 'text' && part.type !== 'reasoning') || part.state !== 'streaming') return part;
  return { ...part, text: part.text + added, state: isDone ? 'done' : 'streaming' };
}

function otherText(part: UIPart, to: object): UIPart {
  return part.type === 'text' || part.type === 'reasoning' ? ({ ...to, type: part.type } as UIPart) : part;
}

function grownCall(part: UIPart, to: object): UIPart {
  if (!isCall(part)) return part;
  const input = 'input' in to && part.input !== undefined ? { input: part.input } : {};
  const isLonger = part.state === 'input-streaming' && 'rawInput' in to;
  const rawInput = isLonger ? { rawInput: `${part.rawInput ?? ''}${String(to.rawInput)}` } : {};
  return { ...withoutState(part), ...to, ...input, ...rawInput } as ToolPart;
}

function withoutState(part: ToolPart): object {
  const { type, toolCallId } = part;
  const name = part.type === 'dynamic-tool' ? { toolName: part.toolName } : {};
  return { type, ...name, toolCallId, ...(part.providerExecuted && { providerExecuted: true }) };
}

function isCall(part: UIPart): part is ToolPart {
  return 'toolCallId' in part;
}

/** Returns a message whose parts have ids: of reasoning its index, of an approval its step and call. */
export function withIds(message: UIMessage, areDistinct: boolean): UIMessage {
  let step = 0;
  const numbered = message.parts.map((part, index): UIPart => {
    if (part.type === 'step-start') step++;
    if (part.type === 'reasoning') return { ...part, id: String(index) };
    if (areDistinct && 'data' in part && part.id !== undefined) return { ...part, id: `${part.id}${index}` };
    if (!isCall(part)) return part;
    const toolCallId = areDistinct ? `call-${index}` : part.toolCallId;
    const { approval: given } = part;
    const named = given && { approval: { ...given, id: `${areDistinct ? index : step}:${toolCallId}` } };
    return { ...part, toolCallId, ...named } as ToolPart;
  });
  return { ...message, parts: numbered };
}
