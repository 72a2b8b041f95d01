import type { Provider } from '../wire.ts';
import {
  amazonBedrock,
  anthropic,
  cohere,
  gateway,
  google,
  googleVertex,
  ollama,
  vertexAnthropic,
} from './native.ts';
import {
  deepSeek,
  groq,
  mistral,
  openAiChat,
  openAiCompatible,
  openAiResponses,
  openAiStored,
  openRouter,
  xai,
} from './openai-family.ts';

/** The providers of the matrix, in the order of the table. */
export const providers: readonly Provider[] = [
  openAiResponses,
  openAiStored,
  openAiChat,
  openAiCompatible,
  openRouter,
  xai,
  groq,
  deepSeek,
  mistral,
  anthropic,
  google,
  googleVertex,
  vertexAnthropic,
  amazonBedrock,
  cohere,
  ollama,
  gateway,
];
