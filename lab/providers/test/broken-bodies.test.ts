import { afterAll, expect, test } from 'vitest';
import { providers } from '../src/providers/index.ts';
import { firstState, loopOf, withTurn } from '../src/runs/held-run.ts';
import { callAndText } from '../src/scenarios/index.ts';
import { answersOf } from '../src/scenarios/scenario.ts';
import { inOrder, ProviderServer, type Break } from '../src/server.ts';
import type { WireResponse } from '../src/wire.ts';

/** The body of an answer without a stream breaks in its middle: the loop repeats the call. */

const server = await ProviderServer.start();
afterAll(() => server.stop());

const BREAKS: readonly Break['type'][] = ['cut', 'end'];

test.each(providers.flatMap((provider) => BREAKS.map((type) => [provider.name, type, provider] as const)))(
  '%s: %s',
  async (_, type, provider) => {
    const [first, second] = answersOf(callAndText).map((answer) => halved(provider.wire.whole(answer)));
    if (!first || !second) throw new Error('The scenario must have two answers.');
    const broken = { type, after: 1 } as Break;
    server.play(inOrder([{ response: first, break: broken }, { response: first }, { response: second }]));
    const start = callAndText.turns.slice(0, 1).reduce(withTurn, firstState(provider));
    const state = await loopOf(provider, callAndText, server.url).run(start);
    expect([state.status, state.errors]).toEqual(['completed', []]);
    expect(state.steps.map(({ inferenceFailures }) => inferenceFailures.length)).toEqual([1, 0]);
    expect(state.steps.flatMap(({ toolExecutions }) => toolExecutions).map(({ value }) => value)).toEqual([
      { city: 'Rome', celsius: 21 },
    ]);
  },
);

/** The response with its body in two chunks. */
function halved({ chunks, ...response }: WireResponse): WireResponse {
  const body = Buffer.concat(chunks.map((chunk) => Buffer.from(chunk)));
  const middle = Math.floor(body.length / 2);
  return { ...response, chunks: [body.subarray(0, middle), body.subarray(middle)] };
}
