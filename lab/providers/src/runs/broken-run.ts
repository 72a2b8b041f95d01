import { AgentState as State, RunAbort, type AgentState } from '@holdfast/core';
import { answersOf, type Scenario } from '../scenarios/scenario.ts';
import { NOTHING_LEFT, type Break, type ProviderServer, type Script } from '../server.ts';
import type { Provider, WireResponse } from '../wire.ts';
import { copyOf, firstState, loopOf, withTurn } from './held-run.ts';

/** A run whose first answer broke, and all that the server received. */
export interface BrokenRun {
  readonly state: AgentState;
  readonly requests: readonly unknown[];
}

/** A scenario with one turn, one of whose answers breaks. */
export class BrokenStream {
  private readonly server: ProviderServer;
  private readonly provider: Provider;
  private readonly scenario: Scenario;
  private readonly answers: readonly WireResponse[];
  /** The index of the answer that breaks. */
  private readonly place: number;

  constructor(server: ProviderServer, provider: Provider, scenario: Scenario, place = 0) {
    this.server = server;
    this.provider = provider;
    this.scenario = scenario;
    this.answers = answersOf(scenario).map((answer) => provider.wire.streamed(answer));
    this.place = place;
  }

  /** The number of chunks of the answer that breaks. */
  get chunks(): number {
    return this.answers[this.place]?.chunks.length ?? 0;
  }

  /** Runs to the end. The loop repeats a call whose answer breaks. */
  async run(broken?: Break): Promise<BrokenRun> {
    this.server.play(this.script(0, broken));
    const state = await this.streamed(this.question());
    return { state, requests: [...this.server.bodies] };
  }

  /** Runs until the answer is held after `after` chunks, then aborts the run. */
  async runUntilAborted(after: number, kind: 'yield' | 'cancel'): Promise<BrokenRun> {
    const abort = new AbortController();
    const onHeld = (): void => abort.abort(new RunAbort(kind));
    this.server.play(this.script(0, { type: 'hold', after, onHeld }));
    const state = await this.streamed(this.question(), abort.signal);
    return { state: State.fromJSON(copyOf(state.toJSON())), requests: [...this.server.bodies] };
  }

  /** Continues a state in a new loop. The server begins with the answer at `from`. */
  async continue(state: AgentState, from: number): Promise<BrokenRun> {
    this.server.play(this.script(from));
    return { state: await this.streamed(state), requests: [...this.server.bodies] };
  }

  private question(): AgentState {
    return this.scenario.turns.slice(0, 1).reduce(withTurn, firstState(this.provider));
  }

  private streamed(state: AgentState, signal?: AbortSignal): Promise<AgentState> {
    const loop = loopOf(this.provider, this.scenario, this.server.url);
    return loop.run(state, { signal, onEvent: () => undefined });
  }

  /** Each new request gets the next answer. A repeated request gets the same answer again, which does not break twice. */
  private script(from: number, broken?: Break): Script {
    let position = from - 1;
    let last = '';
    return ({ body }) => {
      const text = JSON.stringify(body);
      const isNew = text !== last;
      last = text;
      if (isNew) position++;
      const response = this.answers[position] ?? NOTHING_LEFT;
      return { response, break: isNew && position === this.place ? broken : undefined };
    };
  }
}
