import { createOpenAI } from '@ai-sdk/openai';
import { AgentState, createAgentLoop, type Tool } from '@holdfast/core';
import { scriptedDriver } from '@holdfast/core/testing';
import { fromAiSdkTools, type FromAiSdkToolsOptions } from '@holdfast/driver-ai-sdk/tools';
import { jsonSchema, tool } from 'ai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

const described = { description: 'Pays.', inputSchema: z.object({ euros: z.number() }) };

/** Calls each tool once. Returns the names of the tools that ran, and of those that wait for a person. */
async function callsOf(tools: Readonly<Record<string, object>>, options: FromAiSdkToolsOptions = {}) {
  const ran: string[] = [];
  const names = Object.keys(tools);
  const set = Object.fromEntries(
    names.map((name) => [name, { ...described, ...tools[name], execute: () => (ran.push(name), 'paid') }]),
  );
  const calls = names.map((name) => [name, { euros: 5 }] as const);
  const loop = createAgentLoop({
    driver: scriptedDriver({ calls: calls }, 'Done.'),
    tools: await fromAiSdkTools(set, options),
  });
  const state = await loop.run(AgentState.empty().withUserMessage('Pay.'), { runContext: { unit: 5 } });
  const [step = state.currentStep] = state.steps;
  const ended = step?.toolExecutions.map(({ outcome }) => outcome?.type) ?? [];
  return { ran: ran.toSorted(), status: state.status, ended };
}

describe('the rule of a tool', () => {
  test.each([
    ['false', false],
    ['a function with the answer false', () => false],
    ['a promise of false', async () => false],
    ['no rule', undefined],
    ['null', null],
  ])('lets a call run: %s', async (_, needsApproval) => {
    expect(await callsOf({ pay: { needsApproval } })).toMatchObject({ ran: ['pay'], status: 'completed' });
  });

  test.each([
    ['true', true],
    ['a promise of true', async () => true],
    ['a text', () => 'yes'],
    ['an empty text', () => ''],
    ['a number', () => 1],
    ['zero', () => 0],
    ['nothing', () => undefined],
    ['null', () => null],
    ['an object', () => ({})],
    ['a boolean object', () => Object(false) as unknown],
    ['a promise of a promise of nothing', async () => Promise.resolve(undefined)],
  ])('asks a person: %s', async (_, needsApproval) => {
    expect(await callsOf({ pay: { needsApproval } })).toMatchObject({ ran: [], status: 'suspended' });
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('The service of the rule is down.');
      },
    ],
    ['rejects', () => Promise.reject(new Error('The service of the rule is down.'))],
  ])('fails the call when it %s', async (_, needsApproval) => {
    expect(await callsOf({ pay: { needsApproval } })).toMatchObject({ ran: [], ended: ['failed'] });
  });

  test('fails the call when the run context does not fit the tool', async () => {
    const contextSchema = z.object({ unit: z.string() });
    const calls = await callsOf({ pay: { needsApproval: () => false, contextSchema } });
    expect(calls).toMatchObject({ ran: [], ended: ['failed'] });
  });

  test.each([['yes'], [1], [0], [''], [{}], [[]]])('is refused when it is %j', async (needsApproval) => {
    await expect(callsOf({ pay: { needsApproval } })).rejects.toMatchObject({
      code: 'ARGUMENT_INVALID',
      message: expect.stringContaining('needsApproval of tool "pay" must be true, false or a function'),
    });
  });

  test('is refused for a tool that the provider runs', async () => {
    const search = { ...createOpenAI({ apiKey: 'none' }).tools.webSearch({}), needsApproval: true };
    await expect(fromAiSdkTools({ search })).rejects.toThrow(
      '"needsApproval" names the tool "search", which the provider runs',
    );
  });
});

describe('the option', () => {
  const rules = { own: { needsApproval: true }, free: {}, listed: {}, later: {} };

  const table: [string, FromAiSdkToolsOptions, string[]][] = [
    ['nothing: the rule of each tool', {}, ['free', 'later', 'listed']],
    ['false: the rule of each tool', { needsApproval: false }, ['free', 'later', 'listed']],
    ['true: all tools', { needsApproval: true }, []],
    ['names: all other tools too', { needsApproval: { listed: true } }, []],
    ['no names: all tools', { needsApproval: {} }, []],
    ['names of free tools', { needsApproval: { free: false } }, ['free']],
    ['a name with a rule of its own, which holds', { needsApproval: { own: false, free: false } }, ['free']],
    [
      'names, and a default',
      { needsApproval: { listed: true }, defaultNeedsApproval: false },
      ['free', 'later'],
    ],
    [
      'names, and the default in words',
      { needsApproval: { listed: false }, defaultNeedsApproval: true },
      ['listed'],
    ],
  ];
  test.each(table)('is %s', async (_, options, ran) => {
    expect(await callsOf(rules, options)).toMatchObject({ ran, status: 'suspended' });
  });

  test('asks for a tool that a server adds later under any name', async () => {
    const names = ['pay2', 'Pay', 'constructor', 'toString', 'hasOwnProperty', '__proto__'];
    for (const name of names) {
      const set = Object.fromEntries([
        ['pay', {}],
        [name, {}],
      ]);
      expect(await callsOf(set, { needsApproval: { pay: false } })).toMatchObject({ ran: ['pay'] });
    }
  });

  test('has own names only', async () => {
    const inherited = Object.create({ pay: false }) as { pay: boolean };
    expect((await callsOf({ pay: {} }, { needsApproval: inherited })).ran).toEqual([]);
    const literal = JSON.parse('{"__proto__":{"pay":false}}') as { pay: boolean };
    await expect(callsOf({ pay: {} }, { needsApproval: literal })).rejects.toThrow(
      'unknown tool "__proto__"',
    );
  });

  test('holds for tools whose answer a person gives', async () => {
    const ask = tool({ ...described, outputSchema: jsonSchema({}) });
    const [waiting]: readonly Tool[] = await fromAiSdkTools({ ask }, { needsApproval: {} });
    expect(waiting).toHaveProperty('needsApproval');
  });

  test.each([
    [{ defaultNeedsApproval: false }, 'defaultNeedsApproval of fromAiSdkTools applies beside names only'],
    [{ needsApproval: true, defaultNeedsApproval: true }, 'applies beside names only'],
    [{ needsApproval: {}, defaultNeedsApproval: 'no' }, 'must be true or false, found string "no"'],
    [{ needsApproval: 1 }, 'must be true, false, or one of them by the name of the tool'],
    [{ needsApproval: { pay: undefined } }, '"pay" in needsApproval of fromAiSdkTools must be true or false'],
    [
      { needsApproval: { pay: () => false } },
      '"pay" in needsApproval of fromAiSdkTools must be true or false',
    ],
  ])('is refused: %o', async (options, message) => {
    await expect(callsOf({ pay: {} }, options as never)).rejects.toMatchObject({
      code: 'ARGUMENT_INVALID',
      message: expect.stringContaining(message),
    });
  });
});
