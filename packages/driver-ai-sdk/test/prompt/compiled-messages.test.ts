import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import {
  allSections,
  conversationWithCurrentToolTrace,
  createAgentLoop,
  messageCompiler,
  selectedSections,
  systemMessage,
  type AgentState,
  type Message,
  type MessageCompiler,
  type Messages,
  type MessageTransform,
} from '@holdfast/core';
import { scriptedDriver, steppedClock } from '@holdfast/core/testing';
import { generateText, modelMessageSchema } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../tools/config/vitest.properties.ts';
import { answer, quietly, request } from '../builders.ts';
import { gate, histories, leftBehind, script, tools, type History } from '../contract/cut-conversations.ts';

/** Checks that the AI SDK and its providers accept every list that a compiler returns for an interrupted run. */

// Conversion

const lastOnes: MessageTransform = (messages) => messages.slice(-4);
const reminded: MessageTransform = (messages) => messages.append(systemMessage('Be brief.'));
const withoutResults: MessageTransform = (messages) => [...messages].filter(({ role }) => role !== 'tool');
const withoutCalls: MessageTransform = (messages) =>
  [...messages].map((message) => {
    if (message.role !== 'assistant') return message;
    return { ...message, content: message.content.filter(({ type }) => type !== 'tool-call') };
  });
const copied: MessageTransform = (messages) => JSON.parse(JSON.stringify(messages)) as Message[];
const twice: MessageTransform = (messages) => [...messages, ...messages];

const conversation = conversationWithCurrentToolTrace();
const compilers: readonly MessageCompiler[] = [
  conversation,
  allSections(),
  selectedSections(['messages', 'summary', 'none', 'messages']),
  messageCompiler(conversation, lastOnes),
  messageCompiler(allSections(), reminded),
  messageCompiler(conversation, withoutResults),
  messageCompiler(allSections(), withoutCalls),
  messageCompiler(({ messages }) => messages, copied, twice),
  messageCompiler(selectedSections(['summary', 'messages']), twice, lastOnes, copied),
];

// Checks

/** Sends the conversation through the driver to a model. */
async function send(messages: Messages, model: LanguageModelV4 | MockLanguageModelV4): Promise<void> {
  await aiSdkDriver({ model, maxRetries: 0 }).infer(request(messages), quietly());
}

function instantModel(): MockLanguageModelV4 {
  return new MockLanguageModelV4({ doGenerate: async () => answer('ok') });
}

/** Asserts that the AI SDK accepts the messages, and sends them unchanged. */
async function expectAccepted(messages: Messages): Promise<void> {
  expect(messages.isEmpty).toBe(false);
  const ours = instantModel();
  await send(messages, ours);
  const prompt = ours.doGenerateCalls[0]?.prompt ?? [];
  for (const message of prompt) expect(modelMessageSchema.safeParse(message).error).toBeUndefined();
  const theirs = instantModel();
  const copy = structuredClone(prompt) as Parameters<typeof generateText>[0]['messages'] & object;
  await generateText({ model: theirs, messages: copy, allowSystemInMessages: true, maxRetries: 0 });
  expect(theirs.doGenerateCalls[0]?.prompt).toEqual(prompt);
  expectAnthropicRules(prompt);
  expectOpenAiRules(await openAiInput(messages));
}

/** Asserts unique ids, no empty message, no reasoning at the end, and the result of each search next to its call. */
function expectAnthropicRules(prompt: LanguageModelV4Prompt): void {
  const [ids, searches] = [new Set<string>(), new Set<string>()];
  for (const { role, content } of prompt) {
    expect(content).not.toHaveLength(0);
    if (role === 'user') expect([...searches], 'searches without a result').toEqual([]);
    if (role !== 'assistant') continue;
    expect(content.at(-1)?.type).not.toBe('reasoning');
    for (const part of content) {
      if (part.type === 'tool-result')
        expect(searches.delete(part.toolCallId), `call ${part.toolCallId}`).toBe(true);
      if (part.type !== 'tool-call') continue;
      if (part.providerExecuted) searches.add(part.toolCallId);
      else expect(ids).not.toContain(part.toolCallId);
      ids.add(part.toolCallId);
    }
  }
}

interface OpenAiItem {
  readonly type?: string;
  readonly id?: string;
  readonly call_id?: string;
  readonly role?: string;
}

/** The request that OpenAI would receive. The AI SDK converts the prompt, and the test has no network. */
async function openAiInput(messages: Messages): Promise<readonly OpenAiItem[]> {
  let body = '';
  const openai = createOpenAI({
    apiKey: 'none',
    fetch: (_, init) => {
      body = init?.body as string;
      return Promise.reject(new Error('There is no network.'));
    },
  });
  await send(messages, openai.responses('gpt-5')).catch(() => undefined);
  return (JSON.parse(body) as { input: readonly OpenAiItem[] }).input;
}

/** Asserts one output for each call, unique calls and items, and an item of the model after each reasoning. */
function expectOpenAiRules(input: readonly OpenAiItem[]): void {
  const [open, calls, references] = [new Set<unknown>(), new Set<unknown>(), new Set<unknown>()];
  for (const [index, { type, id, call_id: callId }] of input.entries()) {
    if (type === 'item_reference') {
      expect(references, 'items that are there already').not.toContain(id);
      references.add(id);
    }
    if (id?.startsWith('rs_')) {
      const next = input.slice(index).find((one) => !one.id?.startsWith('rs_'));
      expect(
        next?.type === 'function_call' || next?.type === 'item_reference' || next?.role === 'assistant',
      ).toBe(true);
    }
    if (type === 'function_call') {
      expect(calls).not.toContain(callId);
      calls.add(callId);
      open.add(callId);
    }
    if (type === 'function_call_output') expect(open.delete(callId)).toBe(true);
  }
  expect([...open], 'calls without an output').toEqual([]);
}

/** The lists that compilers return for a history, and the lists with which a loop continues. */
async function compiledFrom(state: AgentState, { more, compiler }: History): Promise<Messages[]> {
  const driver = scriptedDriver(...script(more), 'Done.');
  const loop = createAgentLoop({
    driver,
    tools,
    hooks: [gate],
    budget: { maxSteps: 4 },
    clock: steppedClock(1_000),
    compiler: compilers[compiler % compilers.length] as MessageCompiler,
  });
  await loop.run(state);
  return [...compilers.map((compile) => compile(state)), ...driver.requests.map(({ messages }) => messages)];
}

const isAccepted = (messages: Messages): Promise<boolean> =>
  expectAccepted(messages).then(
    () => true,
    () => false,
  );

test('a conversation that was cut anywhere is accepted, whatever compiles it', async () => {
  let [runs, broken, lists] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const state = await leftBehind(history);
      const compiled = new Map<string, Messages>();
      for (const messages of await compiledFrom(state, history))
        compiled.set(JSON.stringify(messages), messages);
      for (const messages of compiled.values()) await expectAccepted(messages);
      runs++;
      lists += compiled.size;
      if (!(await isAccepted(state.messages))) broken++;
    }),
    cases(500),
  );
  // Without such histories, the test would prove nothing.
  expect(broken / runs).toBeGreaterThan(0.25);
  expect(lists / runs).toBeGreaterThan(3);
});
