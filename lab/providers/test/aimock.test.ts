import { LLMock, type FixtureResponse } from '@copilotkit/aimock';
import { afterEach, describe, expect, test } from 'vitest';
import { openAiChat, openAiCompatible, openAiResponses } from '../src/providers/openai-family.ts';
import { runHeld, takeStepHere } from '../src/runs/held-run.ts';
import { MODES } from '../src/runs/outcome.ts';
import { scenarios } from '../src/scenarios/index.ts';
import { answersOf, isSupported } from '../src/scenarios/scenario.ts';
import { inOrder, ProviderServer } from '../src/server.ts';
import type { Answer } from '../src/wire.ts';

/** Runs scenarios against aimock, a server of another project. A run must have the same steps as with our wires. */

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

/** The scenarios that aimock plays in both protocols. */
const PLAYED = ['text', 'parallel calls', 'failing tool', 'files in', 'two turns'];
const played = scenarios.filter(({ name }) => PLAYED.includes(name));

describe.each([openAiResponses, openAiChat, openAiCompatible])('$name', (provider) => {
  describe.each(MODES)('%s', (mode) => {
    test.each(played.filter((scenario) => isSupported(scenario, provider.features)))(
      '$name',
      async (scenario) => {
        const stepsAt = (url: string) =>
          runHeld(provider, scenario, takeStepHere(provider, scenario, mode, url));
        const own = await ProviderServer.start();
        stops.push(() => own.stop());
        const write = mode === 'streamed' ? provider.wire.streamed : provider.wire.whole;
        own.play(inOrder(answersOf(scenario).map((answer) => ({ response: write(answer) }))));
        const theirs = await aimockWith(answersOf(scenario));
        expect(await stepsAt(theirs)).toEqual(await stepsAt(own.url));
      },
    );
  });
});

/** Starts aimock with answers, and returns its URL. */
async function aimockWith(answers: readonly Answer[]): Promise<string> {
  const mock = new LLMock({ port: 0, strict: true });
  const left = answers.map(fixtureOf);
  mock.on(
    { predicate: () => true },
    () => left.shift() ?? { error: { message: 'Nothing left.' }, status: 418 },
  );
  await mock.start();
  stops.push(() => mock.stop());
  return mock.url;
}

const FINISH = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
} as const;

function fixtureOf({ id, parts, finish, usage }: Answer): FixtureResponse {
  const content = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const toolCalls = parts
    .filter((part) => part.type === 'call')
    .map((call) => ({ id: call.id, name: call.name, arguments: JSON.stringify(call.input) }));
  return {
    id,
    content,
    finishReason: FINISH[finish],
    usage: {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
    },
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}
