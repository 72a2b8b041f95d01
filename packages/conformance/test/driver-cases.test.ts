import { driverCases, driverTests } from '@holdfast/conformance';
import type { CreateDriver } from '@holdfast/conformance';
import type { Driver, InferenceOptions, InferenceRequest, InferenceResponse } from '@holdfast/core/driver';
import { InferenceResponse as Response, List } from '@holdfast/core/driver';
import { describe, expect, test } from 'vitest';
import { createDriver } from './scripted-provider.ts';

describe('scriptedDriver', () => {
  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.for(driverTests({ create: createDriver }))('$name', ({ run }) => run());
});

type Infer = (
  sound: Driver,
  request: InferenceRequest,
  options: InferenceOptions,
) => ReturnType<Driver['infer']>;

/** A driver with changed responses. */
const answering =
  (change: (response: InferenceResponse) => object): Infer =>
  async (sound, request, options) => {
    const response = Response.of(await sound.infer(request, options));
    return { ...response, ...change(response) };
  };
/** A driver with changed requests. */
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

const heard = (name: string): string[] => [`${name}, with a listener`, `${name}, without a listener`];
const TEXTS = heard('a final response is returned with its usage');
const CALLS = heard('tool calls are returned in order');
const LONG = heard('a truncated response has the finish reason "length"');
const REFUSED = heard('a call with a refused key throws DRIVER_AUTHENTICATION');
const ABORTED = heard('an abort ends a running call');
const HISTORY = 'calls and results of the conversation are sent in order';
const FORM = 'the schema of the response format is sent';
const APART = 'a driver stores nothing between calls';
const AGENT = 'an agent calls a tool and responds with its result';

const DEFECTS: Readonly<Record<string, readonly [infer: Infer, red: readonly string[]]>> = {
  'invents the ids of calls': [
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
  'drops the arguments of calls': [
    answering(({ content }) => ({
      content: content.map((part) => (part.type === 'tool-call' ? { ...part, input: {} } : part)),
    })),
    [...CALLS, AGENT],
  ],
  'trims deltas': [hearing((text) => text.trim()), [TEXTS[0] ?? '']],
  'repeats the text of deltas': [hearing((text) => text + text), [TEXTS[0] ?? '']],
  'reports no usage': [answering(() => ({ usage: {} })), [...TEXTS, ...CALLS, AGENT]],
  'swaps input and output tokens': [
    answering(({ usage }) => ({
      usage: { inputTokens: usage.outputTokens, outputTokens: usage.inputTokens },
    })),
    [...TEXTS, ...CALLS, AGENT],
  ],
  'always reports the finish reason stop': [answering(() => ({ finishReason: 'stop' })), [...CALLS, ...LONG]],
  'responds to a refused call': [
    (sound, ...args) => Promise.resolve(sound.infer(...args)).catch(() => ({ text: '' })),
    [...REFUSED, ...ABORTED],
  ],
  'throws an error without a code': [
    (sound, ...args) =>
      Promise.resolve(sound.infer(...args)).catch((error: unknown) => {
        throw new Error('No.', { cause: error });
      }),
    REFUSED,
  ],
  'retries a refused call': [
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
  'drops the response format': [asking(() => ({ responseFormat: undefined })), [FORM]],
};

/** Adds the messages of all earlier requests to each request. */
const remembering = (): Infer => {
  const before: InferenceRequest['messages'][] = [];
  return (sound, request, options) => {
    before.push(request.messages);
    const messages = List.from(before.flatMap((one) => one.toArray()));
    return sound.infer({ ...request, messages }, options);
  };
};

describe('a driver that', () => {
  /** Returns the names of the cases that fail with this driver. */
  async function failuresOf(inferOf: () => Infer): Promise<string[]> {
    const failed: string[] = [];
    const create: CreateDriver = async (script) => {
      const infer = inferOf();
      const { driver, ...provider } = await createDriver(script);
      return { driver: { infer: (...args) => infer(driver, ...args) }, ...provider };
    };
    for (const { name, run } of driverCases) await run(create).catch(() => failed.push(name));
    return failed;
  }

  test.for(Object.entries(DEFECTS))('%s', async ([, [infer, red]]) => {
    expect(new Set(await failuresOf(() => infer))).toEqual(new Set(red));
  });

  test('sends the messages of earlier requests', async () => {
    expect(await failuresOf(remembering)).toEqual([APART, AGENT]);
  });

  test('every case is failed by a driver with a defect', () => {
    const red = new Set([...Object.values(DEFECTS).flatMap(([, names]) => names), APART]);
    expect(driverCases.filter(({ name }) => !red.has(name))).toEqual([]);
  });
});
