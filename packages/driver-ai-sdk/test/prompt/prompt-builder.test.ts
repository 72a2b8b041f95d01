import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';
import {
  assistantMessage,
  systemMessage,
  userMessage,
  type FilePart,
  type Message,
  type Messages,
} from '@holdfast/core';
import { List, toolMessage, type ToolResultPart } from '@holdfast/core/driver';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, test } from 'vitest';
import { promptOfAttempt } from '../../src/prompt/prompt.ts';
import { PromptBuilder } from '../../src/prompt/prompt-builder.ts';
import type { Download } from '../../src/download/download.ts';
import { PromptFiles } from '../../src/prompt/prompt-files.ts';

const { signal } = new AbortController();

function builder({
  download,
  model = new MockLanguageModelV4(),
}: { download?: Download; model?: LanguageModelV4 } = {}): {
  readonly build: (messages: Messages, systemPrompt?: string) => Promise<LanguageModelV4Prompt>;
} {
  const prompts = new PromptBuilder({ model, files: new PromptFiles(download) });
  return {
    build: async (messages, systemPrompt) =>
      promptOfAttempt(await prompts.build(messages, systemPrompt, signal)),
  };
}

const result = (toolCallId: string): ToolResultPart => ({
  type: 'tool-result',
  toolCallId,
  toolName: 'add',
  output: { type: 'text', value: toolCallId },
});

function turns(count: number): Message[] {
  return Array.from({ length: count }, (_, index) =>
    index % 2 === 0 ? userMessage(`question ${index}`) : assistantMessage(`answer ${index}`),
  );
}

describe('a growing conversation', () => {
  test('has each message converted once, and later prompts hold the same objects', async () => {
    const { build } = builder();
    let messages = List.from<Message>(turns(100));
    const prompts = [await build(messages)];
    for (let step = 0; step < 5; step++) {
      messages = messages.append(...turns(2));
      prompts.push(await build(messages));
    }
    const last = prompts.at(-1) ?? [];
    expect(last).toHaveLength(110);
    for (const prompt of prompts) prompt.forEach((message, index) => expect(message).toBe(last[index]));
  });

  test('is read from its added messages on', async () => {
    const { build } = builder();
    let reads = 0;
    const counted = turns(100).map((message) => {
      return new Proxy(message, {
        get: (target, name) => (name === 'role' && reads++, Reflect.get(target, name)),
      });
    });
    const messages = List.from<Message>(counted);
    await build(messages);
    const readsOfAll = reads;
    await build(messages.append(userMessage('new')));
    expect(readsOfAll).toBeGreaterThan(0);
    expect(reads).toBe(readsOfAll);
  });

  test('has each message converted once when the next execution hides the calls of the one before', async () => {
    const { build } = builder();
    const shown = List.from<Message>(turns(21));
    const first = await build(shown.append(assistantMessage('I call.'), toolMessage([result('1')])));
    const next = await build(shown.append(assistantMessage('done'), userMessage('more')));
    expect(next).toHaveLength(23);
    next.slice(0, 21).forEach((message, index) => expect(message).toBe(first[index]));
  });

  test('may be cut anywhere, also between results that were joined', async () => {
    const { build } = builder();
    const results = [toolMessage([result('1')]), toolMessage([result('2')])];
    const silent = assistantMessage([{ type: 'source', source: {} }]);
    const start = List.from<Message>(turns(2));
    const others = [...results, silent, toolMessage([result('3')]), ...turns(2)];
    const whole = start.append(...others);
    for (let length = 0; length <= others.length; length++) {
      const cut = start.append(...others.slice(0, length), userMessage('other'));
      for (const messages of [whole, cut]) {
        expect(await build(messages)).toEqual(await builder().build(messages));
      }
    }
  });

  test('has each message converted once for each of several alternating models', async () => {
    const builders = Array.from({ length: 4 }, () => builder());
    let messages = List.from<Message>(turns(10));
    const first = await Promise.all(builders.map(({ build }) => build(messages)));
    for (const [index, { build }] of builders.entries()) {
      messages = messages.append(...turns(2));
      const prompt = await build(messages);
      expect(prompt).toHaveLength(12 + 2 * index);
      first[index]?.forEach((message, place) => expect(prompt[place]).toBe(message));
    }
  });

  test('has each message converted once when a compiler composes a new long list for each step', async () => {
    const { build } = builder();
    const known = turns(100);
    const first = await build(List.from<Message>(known));
    const next = await build(List.from<Message>(known.slice(2)));
    next.forEach((message, index) => expect(message).toBe(first[index + 2]));
  });

  test('has a new array of copied messages for each prompt', async () => {
    const { build } = builder();
    const messages = List.from<Message>(turns(3));
    const first = await build(messages, 'be brief');
    first.length = 1;
    first.push({ role: 'user', content: [{ type: 'text', text: 'smuggled' }] });
    const second = await build(messages, 'be brief');
    expect(second).toHaveLength(4);
    for (const message of second) expect(message).not.toSatisfy(Object.isFrozen);
    (second[1] as { content: unknown[] }).content.push({});
    expect(messages.at(0)?.content).toHaveLength(1);
  });

  test('does not affect the prompts of forks, rewritten histories and shorter histories', async () => {
    const { build } = builder();
    const base = List.from<Message>(turns(40));
    const texts = async (messages: Messages): Promise<string> => JSON.stringify(await build(messages));
    const fresh = async (messages: Messages): Promise<string> =>
      JSON.stringify(await builder().build(messages));
    const left = base.append(userMessage('left'));
    const right = base.append(userMessage('right'), assistantMessage('more'));
    const rewritten = List.from<Message>([...base.slice(0, 10), userMessage('instead'), ...base.slice(20)]);
    for (const messages of [base, left, right, left, base, rewritten, List.from(base.slice(0, 5)), right]) {
      expect(await texts(messages)).toBe(await fresh(messages));
    }
    const [first, second] = [await build(left), await build(rewritten)];
    expect(second[5]).toBe(first[5]);
    expect(second.at(-1)).toBe(first[39]);
  });

  test('can be extended by two calls at the same time', async () => {
    const gate = Promise.withResolvers<void>();
    const download: Download = async () => (
      await gate.promise,
      { data: new Uint8Array([1]), mediaType: 'x/y' }
    );
    const { build } = builder({ download });
    const base = List.from<Message>(turns(3));
    await build(base);
    const picture = {
      type: 'file',
      mediaType: 'x/y',
      data: { type: 'url', url: 'https://a.example/a' },
    } as const;
    const withFile = base.append(userMessage([picture]));
    const [slow, fast] = [build(withFile), build(base.append(userMessage('fast')))];
    expect(await fast).toHaveLength(4);
    gate.resolve();
    expect((await slow).at(-1)).toMatchObject({ content: [{ type: 'file' }] });
    expect(await build(withFile)).toHaveLength(4);
  });
});

describe('messages with files', () => {
  const image: FilePart = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAEC' } };
  const seen = toolMessage([{ ...result('2'), output: { type: 'content', value: [image] } }]);
  /** Writes to each file part, as the AI Gateway does. */
  function write(prompt: LanguageModelV4Prompt): void {
    for (const { content } of prompt) {
      for (const part of typeof content === 'string' ? [] : content) {
        if (part.type === 'file') part.data = { type: 'text', text: 'written' };
        if (part.type !== 'tool-result' || part.output.type !== 'content') continue;
        for (const item of part.output.value)
          if (item.type === 'file') item.data = { type: 'text', text: 'written' };
      }
    }
  }

  test('are copied for each attempt, and the other messages are shared', async () => {
    const { build } = builder();
    const plain = turns(2);
    let messages = List.from<Message>([...plain, userMessage([image]), assistantMessage([image])]);
    for (const added of [toolMessage([result('1')]), seen, toolMessage([result('3')])]) {
      messages = messages.append(added);
      const [first, second] = [await build(messages, 'be brief'), await build(messages, 'be brief')];
      const before = JSON.stringify(second);
      write(first);
      expect(JSON.stringify(second)).toBe(before);
      expect(JSON.stringify(await build(messages, 'be brief'))).toBe(before);
      expect(first.map((message, place) => message === second[place])).toEqual(
        second.map((message, place) => place > 0 && !JSON.stringify(message).includes('"file"')),
      );
    }
  });
});

describe('a prompt', () => {
  test('has the system prompt first, system messages at their positions, and no empty messages', async () => {
    const prompt = await builder().build(
      List.from<Message>([
        userMessage('a'),
        assistantMessage(''),
        systemMessage('now in French'),
        userMessage('b'),
      ]),
      'be brief',
    );
    expect(
      prompt.map(({ role, content }) => [role, typeof content === 'string' ? content : content.length]),
    ).toEqual([
      ['system', 'be brief'],
      ['user', 1],
      ['system', 'now in French'],
      ['user', 1],
    ]);
  });

  test('can be empty, or the system prompt alone', async () => {
    expect(await builder().build(List.empty())).toEqual([]);
    expect(await builder().build(List.empty(), '')).toEqual([]);
    expect(await builder().build(List.empty(), 's')).toEqual([{ role: 'system', content: 's' }]);
  });

  test('has adjacent tool results in one message, also when one of them arrives later', async () => {
    const { build } = builder();
    const messages = List.from<Message>([
      userMessage('a'),
      assistantMessage('b'),
      toolMessage([result('1')], { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } }),
    ]);
    const before = await build(messages);
    const after = await build(messages.append(toolMessage([result('2')])));
    expect(before.at(-1)?.content).toHaveLength(1);
    expect(after).toHaveLength(3);
    expect(after.at(-1)).toStrictEqual({
      role: 'tool',
      content: [
        { ...result('1'), providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } },
        result('2'),
      ],
    });
  });
});
