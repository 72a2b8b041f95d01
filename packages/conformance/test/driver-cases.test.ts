import { driverCases, driverTests } from '@holdfast/conformance';
import type { CreateDriver } from '@holdfast/conformance';
import type { Driver, InferenceOptions, InferenceRequest, InferenceResponse } from '@holdfast/core/driver';
import { InferenceResponse as Response, List } from '@holdfast/core/driver';
import { describe, expect, test } from 'vitest';
import { createDriver } from './scripted-provider.ts';

describe('scriptedDriver', () => {
  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.for(driverTests(createDriver))('$name', ({ run }) => run());
});

type Infer = (
  sound: Driver,
  request: InferenceRequest,
  options: InferenceOptions,
) => ReturnType<Driver['infer']>;

/** The driver with its answers changed. */
const answering =
  (change: (response: InferenceResponse) => object): Infer =>
  async (sound, request, options) => {
    const response = Response.of(await sound.infer(request, options));
    return { ...response, ...change(response) };
  };
/** The driver with its requests changed. */
const asking =
  (change: (request: InferenceRequest) => object): Infer =>
  (sound, request, options) =>
    sound.infer({ ...request, ...change(request) }, options);
const hearing =
  (change: (text: string) => string): Infer =>
  (sound, request, { signal, onDelta }) =>
    sound.infer(request, {
      signal,
      onDelta: onDelta && ((delta) => onDelta({ ...delta, text: change(delta.text) })),
    });

const heard = (name: string): string[] => [`${name}, heard as it comes`, `${name}, not listened to`];
const TEXTS = heard('a text');
const CALLS = heard('calls of tools');
const LONG = heard('an answer that was too long');
const REFUSED = heard('a call that is refused is an error with a code');
const ABORTED = heard('an abort ends a call in flight');
const HISTORY = 'a history of calls and results arrives in its order';
const FORM = 'the form of the answer arrives';
const APART = 'nothing is kept between calls';
const AGENT = 'an agent asks for a tool and answers with its result';

const DEFECTS: Readonly<Record<string, readonly [infer: Infer, red: readonly string[]]>> = {
  'names calls itself': [
    answering(({ content }) => ({
      content: content.map((part, at) =>
        part.type === 'tool-call' ? { ...part, toolCallId: `call_${at}` } : part,
      ),
    })),
    [...CALLS, AGENT],
  ],
  'sorts calls': [
    answering(({ content }) => ({
      content: content.toSorted((left, right) =>
        left.type === 'tool-call' && right.type === 'tool-call' && left.toolCallId < right.toolCallId
          ? -1
          : 1,
      ),
    })),
    CALLS,
  ],
  'loses arguments': [
    answering(({ content }) => ({
      content: content.map((part) => (part.type === 'tool-call' ? { ...part, input: {} } : part)),
    })),
    [...CALLS, AGENT],
  ],
  'trims what it hears': [hearing((text) => text.trim()), [TEXTS[0] ?? '']],
  'says what it hears twice': [hearing((text) => text + text), [TEXTS[0] ?? '']],
  'says nothing of usage': [answering(() => ({ usage: {} })), [...TEXTS, ...CALLS, AGENT]],
  'swaps usage': [
    answering(({ usage }) => ({
      usage: { inputTokens: usage.outputTokens, outputTokens: usage.inputTokens },
    })),
    [...TEXTS, ...CALLS, AGENT],
  ],
  'ends every answer with stop': [answering(() => ({ finishReason: 'stop' })), [...CALLS, ...LONG]],
  'answers what is refused': [
    (sound, ...args) => Promise.resolve(sound.infer(...args)).catch(() => ({ text: '' })),
    [...REFUSED, ...ABORTED],
  ],
  'throws what it gets': [
    (sound, ...args) =>
      Promise.resolve(sound.infer(...args)).catch((error: unknown) => {
        throw new Error('No.', { cause: error });
      }),
    REFUSED,
  ],
  'asks again what was refused': [
    (sound, ...args) => Promise.resolve(sound.infer(...args)).catch(() => sound.infer(...args)),
    [...REFUSED],
  ],
  'drops the system prompt': [asking(() => ({ systemPrompt: undefined })), [HISTORY]],
  'drops results': [
    asking(({ messages }) => ({
      messages: List.from(messages.toArray().filter(({ role }) => role !== 'tool')),
    })),
    [HISTORY, AGENT],
  ],
  'drops tools': [asking(() => ({ tools: [] })), [HISTORY]],
  'drops the form of the answer': [asking(() => ({ responseFormat: undefined })), [FORM]],
};

/** A driver that sends what it was asked before along with what it is asked. */
const remembering = (): Infer => {
  const before: InferenceRequest['messages'][] = [];
  return (sound, request, options) => {
    before.push(request.messages);
    const messages = List.from(before.flatMap((one) => one.toArray()));
    return sound.infer({ ...request, messages }, options);
  };
};

describe('a driver that', () => {
  /** The names of the cases that fail when each call goes through this. */
  async function failuresOf(inferOf: () => Infer): Promise<string[]> {
    const failed: string[] = [];
    const create: CreateDriver = async (script) => {
      const infer = inferOf();
      const { driver, requests } = await createDriver(script);
      return { driver: { infer: (...args) => infer(driver, ...args) }, requests };
    };
    for (const { name, run } of driverCases) await run(create).catch(() => failed.push(name));
    return failed;
  }

  test.for(Object.entries(DEFECTS))('%s', async ([, [infer, red]]) => {
    expect(new Set(await failuresOf(() => infer))).toEqual(new Set(red));
  });

  test('remembers what it was asked', async () => {
    expect(await failuresOf(remembering)).toEqual([APART, AGENT]);
  });

  test('every case is failed by one of them', () => {
    const red = new Set([...Object.values(DEFECTS).flatMap(([, names]) => names), APART]);
    expect(driverCases.filter(({ name }) => !red.has(name))).toEqual([]);
  });
});
