import { LLMock, type FixtureResponse } from '@copilotkit/aimock';

/** A provider over HTTP. It sends its replies in order. */
export interface ProviderServer {
  readonly url: string;
  /** The models of the requests, as the server received them. */
  readonly models: () => readonly (string | undefined)[];
  readonly stop: () => Promise<void>;
}

/** Starts a provider on a free port. */
export async function startProvider(...replies: FixtureResponse[]): Promise<ProviderServer> {
  const mock = new LLMock({ port: 0, strict: true });
  mock.onMessage(/^/, () => replies.shift() ?? refusal(400, 'No reply is left.'));
  await mock.start();
  return {
    url: mock.url,
    models: () => mock.getRequests().map(({ body }) => (body as { readonly model?: string } | null)?.model),
    stop: () => mock.stop(),
  };
}

/** The refusal of a call; the provider accepts calls after `retryAfter` seconds. */
export function refusal(status: number, message: string, retryAfter?: number): FixtureResponse {
  const type = status === 429 ? 'rate_limit_error' : 'server_error';
  return { error: { message, type }, status, ...(retryAfter !== undefined && { retryAfter }) };
}

export const USAGE = { prompt_tokens: 100, completion_tokens: 10 };

export const PAY: FixtureResponse = { toolCalls: [{ name: 'pay', arguments: '{}' }], usage: USAGE };

export const DONE: FixtureResponse = { content: 'Done.', usage: USAGE };
