import { createOpenAI } from '@ai-sdk/openai';
import { LLMock, type FixtureResponse } from '@copilotkit/aimock';
import type { CreateDriver, DriverAbilities, ProviderReply } from '@holdfast/conformance';
import { REFUSAL_REPLIES, understood, type OpenAiBody } from '@holdfast/conformance/test';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { openAiAbilities } from '../contract/conformance-harness.ts';

/**
 * The abilities of aimock, a provider that others wrote. It cannot interrupt a response once its beginning has arrived,
 * break off without an error, repeat a key, or tell that a connection was closed, and it always reports usage, without
 * details.
 */
export const aimockAbilities: DriverAbilities = {
  ...openAiAbilities,
  streaming: false,
  usageDetails: false,
  missingUsage: false,
  noise: false,
  disconnects: false,
  secrets: [],
  interruptions: [],
};

const FINISH = { length: 'length', 'content-filter': 'content_filter', unknown: 'paused_by_moon' };

function fixtureOf(reply: ProviderReply): FixtureResponse | Promise<FixtureResponse> {
  switch (reply.type) {
    case 'answer':
      return responseOf(reply);
    case 'refusal': {
      const [status, error] = REFUSAL_REPLIES[reply.refusal];
      const { retryAfterSeconds: retryAfter } = reply;
      return {
        error: { message: 'Refused.', ...error },
        status,
        ...(retryAfter !== undefined && { retryAfter }),
      };
    }
    case 'silence':
      reply.onAsked();
      return new Promise(() => undefined);
    case 'interruption':
    case 'noise':
    default:
      throw new Error(`aimock has no reply of the type ${reply.type}.`);
  }
}

type Answer = Extract<ProviderReply, { type: 'answer' }>;

function responseOf({ text, calls = [], usage, finishReason, responseId, modelId }: Answer): FixtureResponse {
  const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
  return {
    content: text ?? '',
    ...(calls.length > 0 && { toolCalls: [...calls] }),
    usage: { prompt_tokens: inputTokens, completion_tokens: outputTokens },
    ...(finishReason && { finishReason: FINISH[finishReason] }),
    ...(responseId !== undefined && { id: responseId }),
    ...(modelId !== undefined && { model: modelId }),
  };
}

/** Creates a driver with the OpenAI provider of the AI SDK. */
export const createAtAimock: CreateDriver = async (script) => {
  const mock = new LLMock({ port: 0, strict: true });
  const replies = [...script];
  mock.on({ predicate: () => true }, () =>
    fixtureOf(replies.shift() ?? { type: 'refusal', refusal: 'invalidRequest' }),
  );
  await mock.start();
  const openai = createOpenAI({
    baseURL: `${mock.url}/v1`,
    apiKey: 'sk-test',
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init?.headers, connection: 'close' } }),
  });
  const registry = { languageModel: (id: string) => openai.chat(id) };
  return {
    driver: aiSdkDriver({ model: openai.chat('gpt-4.1'), registry, wait: async () => undefined }),
    requests: () => mock.getRequests().map(({ body }) => understood(body as unknown as OpenAiBody)),
    close: () => mock.stop(),
  };
};
