import { AgentState, createAgentLoop, summarize, tool, type Message } from '@holdfast/core';
import {
  DriverError,
  type Driver,
  type InferenceRequest,
  type InferenceResponseInit,
} from '@holdfast/core/driver';
import { encode as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { encode as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { TEXTS } from '../../support/texts.ts';

/** Chats in a window of tokens, counted by the tokenizers of models; the model refuses what is longer. */

type Encode = (text: string) => readonly number[];

/** Counts a request as a provider does. */
function counterOf(encode: Encode): (request: InferenceRequest) => number {
  const known = new WeakMap<Message, number>();
  const count = (message: Message): number => {
    const tokens = known.get(message) ?? encode(JSON.stringify(message.content)).length + 4;
    known.set(message, tokens);
    return tokens;
  };
  return ({ messages, systemPrompt = '', tools }) =>
    messages.toArray().reduce((sum, message) => sum + count(message), 0) +
    encode(systemPrompt + JSON.stringify(tools)).length;
}

interface Refusing {
  readonly driver: Driver;
  readonly seen: { refused: number; largest: number; calls: number };
}

type Answer = (request: InferenceRequest, call: number) => InferenceResponseInit;

/** A driver that refuses requests above a window. */
function refusing(window: number, encode: Encode, answer: Answer, reports: 'count' | 'nothing'): Refusing {
  const countOf = counterOf(encode);
  const seen = { refused: 0, largest: 0, calls: 0 };
  const driver: Driver = {
    async infer(request) {
      const size = countOf(request);
      if (size > window) {
        seen.refused++;
        throw new DriverError('contextTooLong', `prompt is too long: ${size} tokens > ${window} maximum`);
      }
      seen.largest = Math.max(seen.largest, size);
      const usage = reports === 'count' ? { inputTokens: size, outputTokens: 10 } : {};
      return { ...answer(request, seen.calls++), usage };
    },
  };
  return { driver, seen };
}

/** Text of some tokens. */
function page(text: string, tokens: number, encode: Encode): string {
  return text.repeat(Math.max(1, Math.round(tokens / encode(text).length)));
}

const CHATS = ['Chinese', 'Japanese', 'Thai', 'Arabic', 'code', 'base64', 'emoji'] as const;
const ENCODES = { o200k, cl100k } as const;

interface Chat {
  readonly text: (typeof CHATS)[number];
  readonly window: number;
  readonly encoding: keyof typeof ENCODES;
  readonly reports: 'count' | 'nothing';
}

/** `EFFORT=2` plays every chat; otherwise each text once, in different circumstances. */
const isLong = Number(process.env['EFFORT'] ?? 1) > 1;

function chatsIn(...windows: readonly number[]): readonly Chat[] {
  return CHATS.flatMap((text, index) => {
    const chats = windows.flatMap((window) =>
      (['o200k', 'cl100k'] as const).flatMap((encoding) =>
        (['count', 'nothing'] as const).map((reports): Chat => ({ text, window, encoding, reports })),
      ),
    );
    return isLong ? chats : chats.filter((_, at) => at === index % chats.length);
  });
}

/** Plays 60 turns of pages, of which each third calls a tool. Returns the statuses of the turns. */
async function play({ text, window, encoding, reports }: Chat, maxTokens: number) {
  const encode = ENCODES[encoding];
  const paste = page(TEXTS[text], window / 20, encode);
  const read = tool({
    name: 'read',
    description: 'Reads a page.',
    inputSchema: { type: 'object' },
    execute: () => page(TEXTS[text], window / 10, encode),
  });
  const answer: Answer = ({ messages }, call) =>
    call % 4 === 0 && messages.last?.role === 'user'
      ? { content: [{ type: 'tool-call', toolCallId: `c${call}`, toolName: 'read', input: {} }] }
      : { text: page(TEXTS[text], window / 100, encode) };
  const { driver, seen } = refusing(window, encode, answer, reports);
  const writer = refusing(window, encode, () => ({ text: page(TEXTS[text], window / 40, encode) }), reports);
  const { hook, compiler } = summarize({ driver: writer.driver, maxTokens });
  const loop = createAgentLoop({ driver, tools: [read], hooks: [hook], compiler });
  let state = AgentState.empty();
  const statuses = new Set<string>();
  for (let turn = 0; turn < 60; turn++) {
    state = await loop.run(state.withUserMessage(`${turn} ${paste}`));
    statuses.add(String(state.errors.at(-1)?.message ?? state.status));
  }
  return { statuses: [...statuses], seen, summaries: writer.seen };
}

describe('a chat of 60 turns with summaries', () => {
  test.each(chatsIn(8_000, 32_000))(
    'completes in a window: $text, $window tokens of $encoding, the model reports $reports',
    async (chat) => {
      const { statuses, seen, summaries } = await play(chat, chat.window * 0.75);
      expect(statuses).toEqual(['completed']);
      expect(summaries.calls).toBeGreaterThan(0);
      expect(summaries.calls).toBeLessThan(30);
      expect(seen.refused).toBe(0);
    },
  );

  test.each(chatsIn(8_000))(
    'completes when maxTokens exceeds the window: $text, $encoding, the model reports $reports',
    async (chat) => {
      const { statuses, seen, summaries } = await play(chat, chat.window * 3);
      expect(statuses).toEqual(['completed']);
      expect(seen.refused).toBeGreaterThan(0);
      expect(seen.refused).toBeLessThan(12);
      expect(summaries.calls).toBeLessThan(30);
    },
  );
});

describe('a run of 60 steps with large results and without summaries', () => {
  test.each(chatsIn(32_000))('completes: $text, $encoding, the model reports $reports', async (chat) => {
    const { text, window, encoding, reports } = chat;
    const encode = ENCODES[encoding];
    const read = tool({
      name: 'read',
      description: 'Reads a page.',
      inputSchema: { type: 'object' },
      execute: () => page(TEXTS[text], window / 10, encode),
    });
    const answer: Answer = (_, call) =>
      call < 60
        ? { content: [{ type: 'tool-call', toolCallId: `c${call}`, toolName: 'read', input: {} }] }
        : { text: 'Done.' };
    const { driver, seen } = refusing(window, encode, answer, reports);
    const loop = createAgentLoop({ driver, tools: [read], budget: { maxSteps: 100 } });
    const state = await loop.run(AgentState.empty().withUserMessage('Read all.'));
    expect([state.status, state.errors]).toEqual(['completed', []]);
    expect(seen.refused).toBeLessThan(4);
  });
});
