import { createDeepSeek } from '@ai-sdk/deepseek';
import { createOpenAI } from '@ai-sdk/openai';
import { REFUSALS, type CreateDriver, type DriverAbilities } from '@holdfast/conformance';
import { KEY, TEAM, type OpenAiServer } from '@holdfast/conformance/test';
import { aiSdkDriver } from '@holdfast/driver-ai-sdk';

/** The abilities of both providers. Neither has a mark for tool results that are errors, nor images in results. */
const shared: DriverAbilities = {
  streaming: true,
  usageDetails: true,
  missingUsage: true,
  responseIds: true,
  invalidArguments: true,
  systemMessages: true,
  toolChoice: true,
  noise: true,
  disconnects: true,
  models: ['gpt-4.1', 'gpt-4o'],
  secrets: [KEY, TEAM],
  refusals: REFUSALS,
  interruptions: ['cut', 'end', 'error'],
};

export const openAiAbilities: DriverAbilities = {
  ...shared,
  schemas: true,
  formatNames: true,
  fileUrls: true,
  files: ['image/png', 'image/jpeg', 'application/pdf'],
  settings: [
    'maxOutputTokens',
    'temperature',
    'topP',
    'presencePenalty',
    'frequencyPenalty',
    'stopSequences',
    'seed',
  ],
};

/** DeepSeek sends its reasoning as text. It has no schemas of responses. */
export const deepSeekAbilities: DriverAbilities = {
  ...shared,
  reasoning: true,
  settings: ['maxOutputTokens', 'stopSequences'],
};

/** A driver waits between its attempts; the cases wait for no real time. */
const wait = async (): Promise<void> => undefined;
const headers = { 'x-team': TEAM };

/** Creates drivers with the OpenAI provider of the AI SDK. */
export const openAiHarness =
  (server: OpenAiServer): CreateDriver =>
  async (script) => {
    const { url, ...provider } = server.provider(script);
    const openai = createOpenAI({ baseURL: url, apiKey: KEY });
    const registry = { languageModel: (id: string) => openai.chat(id) };
    return { driver: aiSdkDriver({ model: openai.chat('gpt-4.1'), registry, wait, headers }), ...provider };
  };

/** Creates drivers with the DeepSeek provider of the AI SDK. */
export const deepSeekHarness =
  (server: OpenAiServer): CreateDriver =>
  async (script) => {
    const { url, ...provider } = server.provider(script);
    const deepSeek = createDeepSeek({ baseURL: url, apiKey: KEY });
    const registry = { languageModel: (id: string) => deepSeek.chat(id) };
    return {
      driver: aiSdkDriver({ model: deepSeek.chat('deepseek-reasoner'), registry, wait, headers }),
      ...provider,
    };
  };
