import { REFUSALS, type CreateDriver, type DriverAbilities } from '@holdfast/conformance';
import type { FetchDefect } from './openai/fetch-defects.ts';
import { fetchDriver } from './openai/fetch-driver.ts';
import type { OpenAiServer } from './openai/openai-server.ts';

/** The secrets of the drivers under test: an API key, and the value of the header `x-team`. */
export const KEY = 'sk-conformance-0123456789abcdef';
export const TEAM = 'team-of-forty-two';

/** The abilities of a driver of OpenAI's protocol, with the extensions of compatible servers. */
export const fetchAbilities: DriverAbilities = {
  streaming: true,
  reasoning: true,
  usageDetails: true,
  missingUsage: true,
  responseIds: true,
  invalidArguments: true,
  systemMessages: true,
  errorResults: true,
  schemas: true,
  formatNames: true,
  toolChoice: true,
  noise: true,
  disconnects: true,
  fileUrls: true,
  resultFiles: true,
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
  models: ['model-a', 'model-b'],
  secrets: [KEY, TEAM],
  refusals: REFUSALS,
  interruptions: ['cut', 'end', 'error'],
};

/** Creates drivers on `fetch` that call a server. */
export const fetchHarness =
  (server: OpenAiServer, defects: readonly FetchDefect[] = []): CreateDriver =>
  async (script) => {
    const { url, ...provider } = server.provider(script);
    const headers = { authorization: `Bearer ${KEY}`, 'x-team': TEAM };
    return { driver: fetchDriver({ url, model: 'model-1', headers, defects }), ...provider };
  };
