import {
  AgentState,
  createAgentLoop,
  type AgentLoop,
  type MessageCompiler,
  type Usage,
} from '@holdfast/core';
import { aiSdkDriver, type PromptCache } from '@holdfast/driver-ai-sdk';
import { textOfTokens, toolsOf, type AgentShape } from './agents.ts';
import { tokensOf, type Block, type CountedInput, type PromptCacheRule } from './cache-rules.ts';
import type { Json } from './prompt-blocks.ts';
import { PRICES, type CachingProvider } from './providers.ts';
import { answersOf, type ScriptedAnswer } from './script.ts';

const TURNS = 10;

/** A turn, as the provider counted it. */
export interface MeasuredTurn {
  /** The calls of the model. */
  readonly calls: number;
  /** The input tokens of all calls. */
  readonly input: CountedInput;
  /** The beginning that the first call has in common with the last call of the turn before. */
  readonly shared: { readonly blocks: number; readonly tokens: number };
  /** The input of the first call, and how much of it the provider read from its cache. */
  readonly first: { readonly tokens: number; readonly cacheRead: number };
  /** The output tokens of all calls. */
  readonly output: number;
  /** The usage that the state counted, with its cost. */
  readonly usage: Usage;
}

export interface Measurement {
  readonly provider: CachingProvider;
  readonly shape: AgentShape;
  readonly compiler: MessageCompiler;
  readonly promptCache: PromptCache;
}

/** A call, as the provider received it. */
interface ReceivedCall {
  readonly blocks: readonly Block[];
  readonly input: CountedInput;
  readonly output: number;
}

/** Runs ten turns, each from the stored state of the turn before. */
export async function measureTurns(measurement: Measurement): Promise<readonly MeasuredTurn[]> {
  const { shape } = measurement;
  const server = new CountingProvider(measurement.provider);
  const turns: MeasuredTurn[] = [];
  let state = AgentState.empty().withSystemPrompt(textOfTokens('You are an agent', shape.systemPrompt));
  for (let turn = 0; turn < TURNS; turn++) {
    const before = server.calls.length;
    server.play(answersOf(shape, turn));
    const asked = state.withUserMessage(textOfTokens(`Question ${turn}`, shape.question));
    const answered = await loopOf(measurement, server).run(asked);
    if (answered.status !== 'completed') throw new Error(JSON.stringify(answered.errors));
    turns.push(measuredTurn(server.calls, before, answered.usage));
    state = AgentState.fromJSON(JSON.parse(JSON.stringify(answered)));
  }
  return turns;
}

function loopOf(
  { provider, shape, compiler, promptCache }: Measurement,
  server: CountingProvider,
): AgentLoop {
  const driver = aiSdkDriver({ model: provider.model(server.fetch), promptCache, maxRetries: 0 });
  return createAgentLoop({ driver, tools: toolsOf(shape), compiler, prices: PRICES });
}

function measuredTurn(calls: readonly ReceivedCall[], before: number, usage: Usage): MeasuredTurn {
  const own = calls.slice(before);
  const first = own[0] as ReceivedCall;
  const shared = sharedBlocks(calls[before - 1]?.blocks ?? [], first.blocks);
  const { fresh, cacheRead, cacheWrite } = first.input;
  return {
    calls: own.length,
    input: sumOf(own.map(({ input }) => input)),
    shared: { blocks: shared.length, tokens: blockTokens(shared) },
    first: { tokens: fresh + cacheRead + cacheWrite, cacheRead },
    output: own.reduce((sum, { output }) => sum + output, 0),
    usage,
  };
}

function sharedBlocks(left: readonly Block[], right: readonly Block[]): readonly Block[] {
  const end = right.findIndex(({ text }, index) => text !== left[index]?.text);
  return end < 0 ? right : right.slice(0, end);
}

function blockTokens(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { text }) => sum + tokensOf(text), 0);
}

export function sumOf(inputs: readonly CountedInput[]): CountedInput {
  return inputs.reduce((sum, { fresh, cacheRead, cacheWrite }) => ({
    fresh: sum.fresh + fresh,
    cacheRead: sum.cacheRead + cacheRead,
    cacheWrite: sum.cacheWrite + cacheWrite,
  }));
}

/** A provider that plays responses, and counts by the rules of its cache. */
class CountingProvider {
  readonly calls: ReceivedCall[] = [];
  private readonly provider: CachingProvider;
  private readonly cache: PromptCacheRule;
  private answers: ScriptedAnswer[] = [];

  constructor(provider: CachingProvider) {
    this.provider = provider;
    this.cache = provider.cache();
  }

  play(answers: readonly ScriptedAnswer[]): void {
    this.answers = answers.slice();
  }

  /** Replies to the provider package in place of its server. */
  readonly fetch: typeof globalThis.fetch = (_, init) => {
    const body = JSON.parse(init?.body as string) as Json;
    const answer = this.answers.shift();
    if (answer === undefined) throw new Error('No response is left.');
    const blocks = this.provider.blocks(body);
    const input = this.cache.count(blocks);
    const output = tokensOf(JSON.stringify(answer));
    this.calls.push({ blocks, input, output });
    return Promise.resolve(Response.json(this.provider.response(answer, { ...input, output })));
  };
}
