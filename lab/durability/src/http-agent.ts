import { createOpenAI } from '@ai-sdk/openai';
import { createAgentLoop, SessionRuntime, tool, type Clock, type SessionStore } from '@holdfast/core';
import type { InferenceRetryOptions } from '@holdfast/core/driver';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';

export const OWN_MODEL = 'gpt-5';
export const FALLBACK_MODEL = 'gpt-5-mini';

/** In dollars for a million tokens. */
export const HTTP_PRICES = {
  [OWN_MODEL]: { input: 8, output: 64 },
  [FALLBACK_MODEL]: { input: 1, output: 2 },
};

const FALLBACK_SECONDS = 300;

/** The parts of a runtime whose agent calls its models over HTTP. */
export interface HttpRuntimeParts {
  /** The address of the provider. */
  readonly url: string;
  readonly store: SessionStore;
  readonly clock: Clock;
  /** The effect of the only tool. */
  readonly pay: () => void;
  readonly leaseSeconds?: number;
  /** The budget of an execution. Default: no limit. */
  readonly maxSeconds?: number;
  readonly inferenceRetry?: InferenceRetryOptions;
}

/** A runtime of an agent that pays. */
export function httpRuntime(parts: HttpRuntimeParts): SessionRuntime {
  const { url, store, clock, pay, leaseSeconds = 3_600, maxSeconds, inferenceRetry = {} } = parts;
  const openai = createOpenAI({
    baseURL: `${url}/v1`,
    apiKey: 'sk-test',
    fetch: (address, init) => fetch(address, { ...init, headers: { ...init?.headers, connection: 'close' } }),
  });
  const payer = createAgentLoop({
    driver: aiSdkDriver({
      model: OWN_MODEL,
      registry: { languageModel: (modelId) => openai.chat(modelId) },
      maxRetries: 0, // so that each failed call reaches the loop
    }),
    tools: [payTool(pay)],
    fallback: { models: [FALLBACK_MODEL], on: ['overloaded'], forSeconds: FALLBACK_SECONDS },
    prices: HTTP_PRICES,
    inferenceRetry,
    budget: maxSeconds === undefined ? {} : { maxSeconds },
    clock,
  });
  return new SessionRuntime({ store, clock, leaseSeconds, agents: { payer } });
}

function payTool(pay: () => void) {
  return tool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    effect: 'idempotent',
    execute() {
      pay();
      return 'paid';
    },
  });
}
