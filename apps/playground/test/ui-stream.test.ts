import { AgentState, createAgentLoop, tool } from '@holdfast/core';
import type { AgentEvent, AgentLoopOptions, Tool } from '@holdfast/core';
import type { InferenceOptions } from '@holdfast/core/driver';
import { scriptedDriver, steppedClock } from '@holdfast/core/testing';
import type { ScriptedAnswer } from '@holdfast/core/testing';
import { readUIMessageStream, validateUIMessages } from 'ai';
import type { UIMessage, UIMessageChunk } from 'ai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { toUiMessages } from '../src/ui-messages.ts';
import { nothingStreamed, toUiChunks } from '../src/ui-stream.ts';

const add = tool({
  name: 'add',
  description: 'Adds.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});
const fail = tool({
  name: 'fail',
  description: 'Fails.',
  inputSchema: z.object({}),
  execute: () => {
    throw new Error('out of order');
  },
});
const asking: Tool = { ...add, needsApproval: () => true };
const sum = { calls: { add: { a: 2, b: 2 } } };

type Options = Partial<Omit<AgentLoopOptions, 'driver'>> & { readonly signal?: AbortSignal };

/** What a run of the script streams, and the state it ends in. */
async function streamed(script: readonly ScriptedAnswer[], { signal, ...options }: Options = {}) {
  const loop = createAgentLoop({
    driver: scriptedDriver(...script),
    tools: [add, fail],
    clock: steppedClock(),
    ...options,
  });
  const chunks: UIMessageChunk[] = [];
  let progress = nothingStreamed;
  const onEvent = (event: AgentEvent) => {
    const said = toUiChunks(event, progress);
    progress = said.progress;
    chunks.push(...said.chunks);
  };
  const state = await loop.run(AgentState.empty().withUserMessage('Go.'), { onEvent, signal });
  return { chunks, state };
}

function lines(chunks: readonly UIMessageChunk[]): readonly string[] {
  return chunks.map((chunk) => {
    switch (chunk.type) {
      case 'text-delta':
      case 'reasoning-delta':
        return `${chunk.type} ${chunk.delta}`;
      case 'tool-input-delta':
        return `${chunk.type} ${chunk.inputTextDelta}`;
      case 'tool-input-available':
      case 'tool-input-error':
        return `${chunk.type} ${chunk.toolName} ${JSON.stringify(chunk.input)}`;
      case 'tool-output-available':
        return `${chunk.type} ${JSON.stringify(chunk.output)}`;
      case 'tool-output-error':
      case 'error':
        return `${chunk.type} ${chunk.errorText}`;
      case 'tool-approval-response':
        return `${chunk.type} ${chunk.approved} ${chunk.reason}`;
      case 'finish':
        return `${chunk.type} ${chunk.finishReason}`;
      case 'abort':
        return `${chunk.type} ${chunk.reason}`;
      default:
        return chunk.type;
    }
  });
}

const answering = (text: string) => [
  'start-step',
  'text-start',
  ...text.split(/(?<= )/).map((word) => `text-delta ${word}`),
  'text-end',
  'finish-step',
];
const blocking = { name: 'guard', beforeToolUse: () => ({ block: 'not today' }) };
const stepOfSum = [
  'start-step',
  'tool-input-available add {"a":2,"b":2}',
  'tool-output-available 4',
  'finish-step',
];

/** A driver's own deltas: reasoning, text, and arguments in pieces. */
function everything(_: unknown, { onDelta }: InferenceOptions): ScriptedAnswer {
  onDelta?.({ type: 'reasoning', id: '0', text: 'Well, ' });
  onDelta?.({ type: 'reasoning', id: '0', text: 'so.' });
  onDelta?.({ type: 'tool-input', id: 'c1', toolName: 'add', text: '{"a":1,' });
  onDelta?.({ type: 'tool-input', id: 'c1', toolName: 'add', text: '"b":2}' });
  return {
    content: [
      { type: 'reasoning', text: 'Well, so.' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: { a: 1, b: 2 } },
    ],
  };
}

/** An answer of which nothing was streamed. */
const allAtOnce: ScriptedAnswer = {
  content: [
    { type: 'reasoning', text: 'Hm.' },
    { type: 'tool-call', toolCallId: 'p1', toolName: 'search', input: {}, providerExecuted: true },
    { type: 'tool-result', toolCallId: 'p1', toolName: 'search', output: { type: 'text', value: 'found' } },
  ],
};

const runs: readonly (readonly [string, readonly ScriptedAnswer[], Options, readonly string[]])[] = [
  ['an answer', ['It is 4.'], {}, ['start', ...answering('It is 4.'), 'finish stop']],
  ['a tool', [sum, 'Four.'], {}, ['start', ...stepOfSum, ...answering('Four.'), 'finish stop']],
  [
    'a tool that fails',
    [{ calls: { fail: {} } }, 'Sorry.'],
    {},
    [
      'start',
      'start-step',
      'tool-input-available fail {}',
      'tool-output-error out of order',
      'finish-step',
      ...answering('Sorry.'),
      'finish stop',
    ],
  ],
  [
    'a tool that is blocked',
    [sum, 'Well.'],
    { hooks: [blocking] },
    [
      'start',
      'start-step',
      'tool-input-available add {"a":2,"b":2}',
      'tool-approval-request',
      'tool-approval-response false not today',
      'tool-output-denied',
      'finish-step',
      ...answering('Well.'),
      'finish stop',
    ],
  ],
  [
    'arguments that cannot be read',
    [
      {
        content: [
          { type: 'tool-call', toolCallId: 'c', toolName: 'add', input: '{"a":', invalid: 'not JSON' },
        ],
      },
      'Oh.',
    ],
    {},
    [
      'start',
      'start-step',
      'tool-input-error add "{\\"a\\":"',
      'tool-output-error The arguments of tool "add" are not valid: not JSON.',
      'finish-step',
      ...answering('Oh.'),
      'finish stop',
    ],
  ],
  [
    'reasoning and arguments in pieces',
    [everything, 'Three.'],
    {},
    [
      'start',
      'start-step',
      'reasoning-start',
      'reasoning-delta Well, ',
      'reasoning-delta so.',
      'reasoning-end',
      'tool-input-start',
      'tool-input-delta {"a":1,',
      'tool-input-delta "b":2}',
      'tool-input-available add {"a":1,"b":2}',
      'tool-output-available 3',
      'finish-step',
      ...answering('Three.'),
      'finish stop',
    ],
  ],
  [
    'what was not streamed, and a tool of the provider',
    [allAtOnce],
    {},
    [
      'start',
      'start-step',
      'reasoning-start',
      'reasoning-delta Hm.',
      'reasoning-end',
      'tool-input-available search {}',
      'tool-output-available "found"',
      'finish-step',
      'finish stop',
    ],
  ],
  [
    'a call that waits for approval',
    [sum],
    { tools: [asking] },
    [
      'start',
      'start-step',
      'tool-input-available add {"a":2,"b":2}',
      'tool-approval-request',
      'finish other',
    ],
  ],
  [
    'a failing model',
    [new Error('no network')],
    {},
    ['start', 'start-step', 'finish-step', 'error no network'],
  ],
  [
    'the limit of steps',
    [sum, sum],
    { budget: { maxSteps: 1 } },
    ['start', ...stepOfSum, 'finish tool-calls'],
  ],
];

describe('a run as a UI message stream', () => {
  test.each(runs)('%s', async (_, script, options, expected) => {
    const { chunks, state } = await streamed(script, options);
    expect(lines(chunks)).toEqual(expected);
    expect(chunks[0]).toEqual({ type: 'start', messageId: state.executionId });
  });

  test('an abort while tools wait', async () => {
    const controller = new AbortController();
    const abort = tool({
      name: 'add',
      description: 'Aborts.',
      inputSchema: { type: 'object' },
      execute: () => controller.abort(),
    });
    const calls = [
      ['add', {}],
      ['add', {}],
    ] as const;
    const { chunks } = await streamed([{ calls }], {
      tools: [abort],
      maxParallelTools: 1,
      signal: controller.signal,
    });
    expect(lines(chunks).slice(-4)).toEqual([
      expect.stringContaining('tool-output-error Tool "add" was started and interrupted'),
      'tool-output-error Not run: the execution stopped.',
      'finish-step',
      'abort The run was aborted.',
    ]);
  });
});

describe('read by the SDK', () => {
  test.each(runs)('%s', async (_, script, options) => {
    const { chunks, state } = await streamed(script, options);
    const errors: unknown[] = [];
    const message = await lastMessage(chunks, errors);
    const failed = state.status === 'failed';
    expect(errors).toHaveLength(failed ? 1 : 0);
    await expect(validateUIMessages({ messages: [message] })).resolves.toHaveLength(1);
    if (failed) return;
    const [, stored] = toUiMessages(state);
    expect(essence(message)).toEqual(stored && essence(stored));
  });
});

async function lastMessage(chunks: readonly UIMessageChunk[], errors: unknown[]): Promise<UIMessage> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream, onError: (error) => errors.push(error) }))
    last = message;
  if (!last) throw new Error('The stream formed no message.');
  return last;
}

/** What a reader sees of a message: who, in which order, said what, called what, and got what. */
function essence({ id, role, parts }: UIMessage): unknown {
  return {
    id,
    role,
    parts: parts.map((part) => {
      if (part.type === 'text' || part.type === 'reasoning') return [part.type, part.text];
      if (part.type !== 'dynamic-tool') return part.type;
      return [
        part.toolName,
        part.toolCallId,
        part.state,
        part.input,
        part.output,
        part.errorText,
        part.approval?.reason,
      ];
    }),
  };
}
