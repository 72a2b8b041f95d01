import { answersOf, type Scenario } from '../scenarios/scenario.ts';
import { inOrder, type ProviderServer, type RecordedRequest } from '../server.ts';
import type { Provider } from '../wire.ts';
import { runHeld, takeStepHere, type TakeStep } from './held-run.ts';
import type { Mode, StepFacts } from './outcome.ts';
import { runWithSdk } from './sdk-run.ts';

/** The requests that one side sent, and the steps that it reports. */
interface Side {
  readonly requests: readonly Pick<RecordedRequest, 'method' | 'path' | 'body'>[];
  readonly steps: readonly StepFacts[];
}

/** The results of one scenario: with the AI SDK, and with Holdfast. */
export interface Comparison {
  readonly sdk: Side;
  readonly held: Side;
}

/** Runs a scenario with the AI SDK, then with Holdfast. */
export async function compare(
  server: ProviderServer,
  provider: Provider,
  scenario: Scenario,
  mode: Mode,
  takeStep: TakeStep = takeStepHere(provider, scenario, mode, server.url),
): Promise<Comparison> {
  const play = async (run: () => Promise<readonly StepFacts[]>): Promise<Side> => {
    const { wire } = provider;
    const write = mode === 'streamed' ? wire.streamed : wire.whole;
    server.play(inOrder(answersOf(scenario).map((answer) => ({ response: write(answer) }))));
    const steps = await run();
    return { steps, requests: server.requests.map(({ method, path, body }) => ({ method, path, body })) };
  };
  return {
    sdk: await play(() => runWithSdk(provider, scenario, mode, server.url)),
    held: await play(() => runHeld(provider, scenario, takeStep)),
  };
}
