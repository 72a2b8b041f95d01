import type { ChatMessage, FixtureResponse } from '@copilotkit/aimock';
import { LLMock } from '@copilotkit/aimock';
import { createOpenAI } from '@ai-sdk/openai';
import { driverTests } from '@holdfast/conformance';
import type { CreateDriver, ProviderReply, ProviderRequest } from '@holdfast/conformance';
import type { JsonObject } from '@holdfast/core';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';
import { describe, test } from 'vitest';

function fixture(reply: ProviderReply): FixtureResponse | Promise<FixtureResponse> {
  if (reply.type === 'silence') {
    reply.onAsked();
    return new Promise(() => undefined);
  }
  if (reply.type === 'refusal') return { error: { message: 'The key is wrong.' }, status: 401 };
  const { text = '', calls = [], usage, finishReason } = reply;
  return {
    content: text,
    usage: { prompt_tokens: usage.inputTokens, completion_tokens: usage.outputTokens },
    ...(calls.length > 0 && {
      toolCalls: calls.map(({ id, name, input }) => ({ id, name, arguments: JSON.stringify(input) })),
    }),
    ...(finishReason && { finishReason }),
  };
}

/** The content of a message, in the form of the case. */
function said({ role, content, tool_calls: calls = [], tool_call_id: id }: ChatMessage): string[] {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  if (role === 'tool') return [`result ${id} ${text}`];
  const speaker = role.replace('developer', 'system'); // the role `system` in newer models of OpenAI
  const words = content === null || content === '' ? [] : [`${speaker} ${text}`];
  return [...words, ...calls.map((call) => `call ${call.id} ${call.function.name}`)];
}

interface Body {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly response_format?: { readonly json_schema?: { readonly schema?: JsonObject } };
}

function understood({ messages, tools = [], response_format: format }: Body): ProviderRequest {
  return {
    said: messages.flatMap(said),
    tools: tools.map((tool) => tool.function.name),
    schema: format?.json_schema?.schema,
  };
}

/** Creates the driver with the OpenAI provider of the AI SDK, over HTTP. */
const create: CreateDriver = async (script) => {
  const mock = new LLMock({ port: 0, strict: true });
  const replies = [...script];
  mock.onMessage(/^/, () => fixture(replies.shift() ?? { type: 'refusal' }));
  await mock.start();
  const openai = createOpenAI({
    baseURL: `${mock.url}/v1`,
    apiKey: 'sk-test',
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init?.headers, connection: 'close' } }),
  });
  return {
    driver: aiSdkDriver({ model: openai.chat('gpt-5') }),
    requests: () => mock.getRequests().map(({ body }) => understood(body as unknown as Body)),
    close: () => mock.stop(),
  };
};

describe('aiSdkDriver', () => {
  // oxlint-disable-next-line vitest/expect-expect -- the cases assert, without a test runner
  test.for(driverTests({ create }))('$name', ({ run }) => run());
});
