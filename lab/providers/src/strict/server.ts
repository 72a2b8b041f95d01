import { NOTHING_LEFT, ProviderServer, type RecordedRequest, type ScriptedResponse } from '../server.ts';
import { issuedAnswer, type StrictAnswer, type StrictFailure } from './answer.ts';
import { Issuer } from './issuer.ts';
import type { StrictProfile } from './profile.ts';
import { refusalsOf, type Refusal } from './refusal.ts';
import { rulesFor, type Rule } from './rules.ts';

/** A request as a strict server judged it. No refusal: the model answered. */
export interface JudgedRequest extends RecordedRequest {
  readonly refusals: readonly Refusal[];
}

/** An answer of the model, or a failure of the server. */
export type StrictStep = StrictAnswer | StrictFailure;

/** The answers, in order, or a function that makes the answer to a request. `index` counts the accepted requests. */
export type StrictScript =
  | readonly StrictStep[]
  | ((request: RecordedRequest, index: number) => StrictStep | undefined);

/** Which provider a strict server plays, and what its model answers. */
export interface StrictServerOptions {
  readonly profile: StrictProfile;
  readonly script: StrictScript;
  /** The rules that hold. Default: all rules of the profile's dialects. */
  readonly rules?: readonly Rule[];
}

/**
 * A provider that refuses what the real one refuses in the form of a request. A request that it accepts gets the next
 * answer of the script. It knows its own signatures and items, and no other server's.
 */
export class StrictServer {
  readonly requests: JudgedRequest[] = [];
  private readonly issuer = new Issuer();
  private readonly server: ProviderServer;
  private readonly options: StrictServerOptions;
  private readonly rules: readonly Rule[];
  private answers = 0;

  private constructor(server: ProviderServer, options: StrictServerOptions) {
    this.server = server;
    this.options = options;
    this.rules = options.rules ?? rulesFor(options.profile.dialects);
  }

  static async start(options: StrictServerOptions): Promise<StrictServer> {
    const http = await ProviderServer.start();
    const strict = new StrictServer(http, options);
    http.play((request) => strict.answer(request));
    return strict;
  }

  get url(): string {
    return this.server.url;
  }

  /** The requests that were refused. */
  get refused(): readonly JudgedRequest[] {
    return this.requests.filter(({ refusals }) => refusals.length > 0);
  }

  async stop(): Promise<void> {
    await this.server.stop();
  }

  private answer(request: RecordedRequest): ScriptedResponse {
    const { wire, reasons = false } = this.options.profile;
    const view = wire.read(request, reasons);
    const refusals = refusalsOf(this.rules, view, { issuer: this.issuer }, wire.paths);
    this.requests.push({ ...request, refusals });
    const [first] = refusals;
    if (first) return { response: wire.refuse(first) };
    const scripted = this.nextStep(request);
    if (!scripted) return { response: NOTHING_LEFT };
    if ('failure' in scripted) return { response: wire.write.refused(scripted.failure) };
    const answer = issuedAnswer(scripted, view, this.issuer);
    this.issuer.remember(wire.itemsOf?.(answer) ?? []);
    const write = wire.isStreamed(request) ? wire.write.streamed : wire.write.whole;
    return { response: write(answer), break: scripted.break };
  }

  private nextStep(request: RecordedRequest): StrictStep | undefined {
    const { script } = this.options;
    const index = this.answers;
    this.answers += 1;
    return typeof script === 'function' ? script(request, index) : script[index];
  }
}

/** Starts a strict server. */
export function strictServer(options: StrictServerOptions): Promise<StrictServer> {
  return StrictServer.start(options);
}
