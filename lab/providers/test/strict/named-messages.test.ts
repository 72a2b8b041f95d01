import { AgentState, createAgentLoop, tool } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { describe, expect, test } from 'vitest';
import { settingsOf } from '../../src/conversations/release.ts';
import {
  rules,
  rulesFor,
  strictServer,
  strictServers,
  type Rule,
  type StrictAnswer,
  type StrictProfile,
} from '../../src/strict/index.ts';
import { isLike, protocols } from './protocols.ts';

/** A strict server refuses a message that no repair can mend: the error names the message of the state. */

const weather = tool({
  name: 'weather',
  description: 'The weather of a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  execute: ({ city }: { readonly city?: unknown }) => `Rain in ${String(city)}.`,
});

function call(id: string, city: string) {
  return { type: 'call', id, name: 'weather', input: { city } } as const;
}

const ANSWERS: readonly StrictAnswer['parts'][] = [
  [{ type: 'text', text: 'I look.' }, call('call00001', 'Rome'), call('call00002', 'Oslo')],
  [{ type: 'text', text: 'It is a forbidden word.' }],
  [{ type: 'text', text: 'Yes.' }],
];

const TURNS = ['How is it?', 'It is my word.', 'It is my word.'];

const EXAMPLE = rules.find(({ id }) => id === 'anthropic/call-id') as Rule;

/** A rule that the request breaks. `of`: the values that must not have the pattern. */
function forbidding(
  of: string | readonly string[],
  pattern: string,
  words: Pick<Rule, 'error' | 'status'> = EXAMPLE,
): Rule {
  const check = { name: 'pattern', of, pattern: `^(?!.*${pattern})` } as const;
  const { error, status } = words;
  return { ...EXAMPLE, check, error, status };
}

/** The error and the state of a conversation with a server that has one rule. */
async function refused(profile: StrictProfile, rule: Rule) {
  const script = ANSWERS.map((parts) => ({ parts }));
  const server = await strictServer({ profile, script, rules: [rule] });
  try {
    const driver = aiSdkDriver({ model: profile.model(server.url), maxRetries: 0 });
    const loop = createAgentLoop({ driver, tools: [weather], compiler: ({ messages }) => messages });
    const { model: _, ...settings } = settingsOf(profile);
    let state = AgentState.empty().withSystemPrompt('Be brief.').withLlmConfig(settings);
    for (const turn of TURNS) {
      state = await loop.run(state.withUserMessage(turn));
      if (state.status !== 'completed') break;
    }
    expect(server.refused).not.toEqual([]);
    const { data, message = '' } = state.errors.at(-1) ?? {};
    return { state, message, data: data as Refused | undefined };
  } finally {
    await server.stop();
  }
}

interface Refused {
  readonly refused?: {
    readonly path?: string;
    readonly messages: readonly { readonly id: string; readonly stepId?: string }[];
  };
}

/** Routers convert requests, so that a place in their provider's text says nothing. */
function isRouter({ package: name }: StrictProfile): boolean {
  return name === '@ai-sdk/gateway' || name === '@openrouter/ai-sdk-provider';
}

/** The name of each place, a rule by which a server refuses it, and the index of its message in the state. */
const PLACES: readonly (readonly [string, Rule, number])[] = [
  ['the first words', forbidding('text.text', 'How is it'), 0],
  ['a call', forbidding(['call.id', 'call.name'], ''), 1],
  ['a result', forbidding(['result.id', 'result.name'], ''), 2],
  ['an answer', forbidding('text.text', 'forbidden'), 3],
];

describe.each(protocols)('$name', ({ profile }) => {
  test.each(PLACES)('%s', async (_, rule, index) => {
    const { state, message, data } = await refused(profile, rule);
    const said = state.messages.toArray()[index];
    const named = { id: said?.id, ...(index > 0 && { stepId: said?.metadata?.['step_id'] }) };
    expect(data?.refused?.messages).toMatchObject(isRouter(profile) ? [] : [named]);
    expect(message).toContain(isRouter(profile) ? 'names no message' : JSON.stringify(said?.id));
  });
});

/** The texts around a place in the refusals of each server. */
const wordings = strictServers()
  .filter((profile) => !isRouter(profile))
  .flatMap((profile) =>
    rulesFor(profile.dialects).flatMap((rule) => {
      const [around] = /.{0,4}\{(path|index)\}.{0,4}/.exec(rule.error) ?? [];
      return around === undefined || rule.error.includes('tools') ? [] : [{ profile, rule, around }];
    }),
  )
  .filter(
    ({ profile, around }, at, all) =>
      at === all.findIndex((one) => one.around === around && isLike(one.profile, profile)),
  )
  .map(({ profile, rule }) => ({ name: profile.name, id: rule.id, profile, rule }));

test.each(wordings)('$name, in the words of $id', async ({ profile, rule }) => {
  const { state, data } = await refused(profile, forbidding('text.text', 'forbidden', rule));
  expect(data?.refused?.messages).toMatchObject([{ id: state.messages.toArray()[3]?.id }]);
});
