import { LLMock } from '@copilotkit/aimock';
import type { Service } from './service.ts';

/** A provider that speaks OpenAI's protocol. It answers what is written here, and refuses all other questions. */
export async function startProvider(): Promise<Service> {
  const provider = new LLMock({ port: 0, strict: true });
  const add = { name: 'add', arguments: { a: 2, b: 2 } };
  provider.on({ userMessage: '2 + 2', hasToolResult: false }, { toolCalls: [add] });
  provider.on({ userMessage: '2 + 2', toolResultContains: '4' }, { content: 'It is 4.' });
  provider.on({ userMessage: 'sky blue' }, { content: 'Rayleigh scattering.' });
  await provider.start();
  return {
    env: { OPENAI_API_KEY: 'unused', OPENAI_BASE_URL: `${provider.url}/v1` },
    close: () => provider.stop(),
  };
}
