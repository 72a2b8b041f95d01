import { APICallError } from 'ai';
import { describe, expect, it } from 'vitest';
import {
  rulesFor,
  strictServer,
  strictServers,
  type StrictAnswer,
  type StrictProfile,
  type StrictScript,
  type StrictServer,
} from '../../src/strict/index.ts';
import { conversation, turn, type Mode } from './sdk.ts';

type Part = StrictAnswer['parts'][number];

function call(id: string, more: object = {}): Part {
  return { type: 'call', id, name: 'weather', input: { city: 'Rome' }, ...more };
}

function text(value: string): Part {
  return { type: 'text', text: value };
}

/** Answers with these parts, after reasoning where the model reasons. */
function answers(
  { features }: StrictProfile,
  ...list: readonly (readonly Part[])[]
): readonly StrictAnswer[] {
  const reasoning: readonly Part[] = features.has('reasoning')
    ? [{ type: 'reasoning', text: 'Hm, well.' }]
    : [];
  return list.map((parts) => ({ parts: [...reasoning, ...parts] }));
}

async function withServer(
  profile: StrictProfile,
  script: StrictScript,
  use: (server: StrictServer) => Promise<void>,
): Promise<void> {
  const server = await strictServer({ profile, script });
  try {
    await use(server);
  } finally {
    await server.stop();
  }
}

function outcomeOf(done: Promise<unknown>): Promise<'completed' | 'failed'> {
  return done.then(
    () => 'completed',
    () => 'failed',
  );
}

/** The rules of all refusals, each once. */
function brokenRules({ refused }: StrictServer): readonly string[] {
  return [...new Set(refused.flatMap(({ refusals }) => refusals.map(({ rule }) => rule)))];
}

function profileOf(name: string): StrictProfile {
  const profile = strictServers().find((each) => each.name === name);
  if (!profile) throw new Error(`No profile ${name}.`);
  return profile;
}

/** The refusals that the packages of the AI SDK cause by themselves, and that the driver must prevent. */
const NEEDS_REPAIR: Readonly<Record<string, string>> = {
  'deepseek (Responses)': 'deepseek-responses/adjacent',
  acme: 'strict/reasoning-content',
  togetherai: 'strict/reasoning-content',
  fireworks: 'strict/reasoning-content',
  cerebras: 'cerebras/reasoning-content',
  'xai (Chat)': 'xai-chat/content',
  lmstudio: 'lm-studio/content',
};

const modes: readonly Mode[] = ['whole', 'streamed'];
/** The profiles whose provider refuses half a surrogate pair. */
const surrogateRows = strictServers()
  .filter(({ dialects }) => rulesFor(dialects).some(({ check }) => check.name === 'surrogates'))
  .map((profile) => ({ name: profile.name, profile }));

const rows = strictServers().flatMap((profile) =>
  modes.map((mode) => ({ name: profile.name, mode, profile })),
);

describe('a strict server', () => {
  it.each(rows)('$name accepts a usual conversation, $mode', async ({ mode, profile }) => {
    const script = answers(
      profile,
      [call('call00001'), call('call00002')],
      [text('It rains.')],
      [call('call00003')],
      [text('No.')],
    );
    await withServer(profile, script, async (server) => {
      const questions = ['How is it?', 'And now?'];
      const ended = await outcomeOf(conversation(profile, server.url, mode, questions));
      const needed = NEEDS_REPAIR[profile.name];
      expect({ ended, rules: brokenRules(server), requests: server.requests.length }).toEqual(
        needed === undefined
          ? { ended: 'completed', rules: [], requests: 4 }
          : { ended: 'failed', rules: [needed], requests: 2 },
      );
    });
  });

  it.each(surrogateRows)('$name refuses in its own form', async ({ profile }) => {
    await withServer(profile, [], async (server) => {
      const messages = [{ role: 'user' as const, content: 'Look \ud800 here.' }];
      const error: unknown = await turn(profile, server.url, 'whole', messages).catch(
        (thrown: unknown) => thrown,
      );
      const [refusal] = server.refused[0]?.refusals ?? [];
      expect(error).toMatchObject({ statusCode: refusal?.status });
      const said = APICallError.isInstance(error) ? error.responseBody : String(error);
      expect(said).toContain(JSON.stringify(refusal?.message).slice(1, -1));
    });
  });

  it('refuses as Ollama does', async () => {
    await withServer(profileOf('ollama'), [], async (server) => {
      const body = JSON.stringify({ messages: [{ role: 'odd', content: 'a' }] });
      const response = await fetch(`${server.url}/api/chat`, { method: 'POST', body });
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({ error: expect.stringContaining('invalid role: odd') });
    });
  });

  it.each([
    { name: 'anthropic', parts: [call('functions.x:0')], rule: 'anthropic/call-id' },
    {
      name: 'anthropic',
      parts: [call('a1', { name: 'multi_tool_use.parallel' })],
      rule: 'anthropic/call-name',
    },
    { name: 'openai (Chat)', parts: [call('a'.repeat(43))], rule: 'openai-chat/call-id' },
    {
      name: 'openai (Chat)',
      parts: [call('a1', { name: 'multi_tool_use.parallel' })],
      rule: 'openai-chat/tool-name',
    },
    { name: 'openai (Responses)', parts: [call('a'.repeat(65))], rule: 'openai-responses/call-id' },
    { name: 'mistral', parts: [call('call_123')], rule: 'mistral/call-id' },
    { name: 'vllm', parts: [call('a1', { argumentsText: 'null' })], rule: 'vllm/arguments' },
    { name: 'amazon-bedrock', parts: [call('a:1')], rule: 'bedrock/call-id' },
    { name: 'google', parts: [call('a1', { name: '1st tool' })], rule: 'google/tool-name' },
    { name: 'cohere', parts: [call('a1', { name: '1st tool' })], rule: 'cohere/tool-name' },
    { name: 'gateway', parts: [call('a/1')], rule: 'gateway/call-id' },
  ])('$name gives an odd answer and refuses it in the history: $rule', async ({ name, parts, rule }) => {
    const profile = profileOf(name);
    await withServer(profile, answers(profile, parts), async (server) => {
      const ended = await outcomeOf(conversation(profile, server.url, 'whole', ['How is it?']));
      expect(ended).toBe('failed');
      expect(brokenRules(server)).toContain(rule);
    });
  });

  it('fails, and breaks off, as the script says', async () => {
    const profile = profileOf('openai (Chat)');
    const cut = { parts: [text('A long answer.')], break: { type: 'cut', after: 2 } } as const;
    const script = [{ failure: 'overloaded' }, cut, { parts: [text('Yes.')] }] as const;
    await withServer(profile, script, async (server) => {
      const question = { role: 'user' as const, content: 'How is it?' };
      await expect(turn(profile, server.url, 'whole', [question])).rejects.toMatchObject({ statusCode: 503 });
      expect(await outcomeOf(turn(profile, server.url, 'streamed', [question]))).toBe('failed');
      await expect(turn(profile, server.url, 'whole', [question])).resolves.toHaveLength(1);
      expect(server.refused).toEqual([]);
    });
  });

  it('knows no signature of another server', async () => {
    const profile = profileOf('anthropic');
    await withServer(profile, answers(profile, [text('Yes.')]), async (first) => {
      const question = { role: 'user' as const, content: 'How is it?' };
      const answer = await turn(profile, first.url, 'whole', [question]);
      await withServer(profile, answers(profile, [text('No.')]), async (second) => {
        const history = [question, ...answer, question];
        await expect(turn(profile, second.url, 'whole', history)).rejects.toThrow(/Invalid `signature`/);
        await expect(turn(profile, second.url, 'whole', [question, question])).resolves.toHaveLength(1);
      });
    });
  });

  it('refuses thinking whose prefix has changed, where the model binds it', async () => {
    const profile = profileOf('anthropic (bound thinking)');
    await withServer(profile, answers(profile, [text('Yes.')], [text('No.')]), async (server) => {
      const question = { role: 'user' as const, content: 'How is it?' };
      const answer = await turn(profile, server.url, 'whole', [question]);
      const other = { role: 'user' as const, content: 'How was it?' };
      await expect(turn(profile, server.url, 'whole', [other, ...answer, question])).rejects.toThrow(/bound/);
      await turn(profile, server.url, 'whole', [question, ...answer, question]);
      expect(server.requests.map(({ refusals }) => refusals.length)).toEqual([0, 1, 0]);
    });
  });
});
