import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { ModelSettings } from './command-line.ts';
import { createOfflineModel } from './offline-model.ts';

/** The model that answers, and its label for people. */
export interface ModelChoice {
  readonly model: LanguageModelV4;
  /** The label for people. */
  readonly label: string;
  readonly isOffline: boolean;
}

const defaultModelId = 'gpt-5-mini';

/** The provider's model when there is a key, else the offline one. */
export function chooseModel({ apiKey, baseUrl, modelId = defaultModelId }: ModelSettings): ModelChoice {
  if (apiKey === undefined) {
    return { model: createOfflineModel(), label: 'Offline model (rules, no network)', isOffline: true };
  }
  const openai = createOpenAI({ apiKey, fetch: hiding(apiKey), ...(baseUrl && { baseURL: baseUrl }) });
  const at = baseUrl === undefined ? 'OpenAI' : new URL(baseUrl).host;
  return { model: openai(modelId), label: `${modelId} · ${at}`, isOffline: false };
}

/** A fetch whose failures never repeat the key, even if the provider's text has it: failures are stored and shown. */
function hiding(apiKey: string): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.ok) return response;
    const text = (await response.text()).replaceAll(apiKey, '[key]');
    const { status, statusText, headers } = response;
    return new Response(text, { status, statusText, headers: withoutLength(headers) });
  };
}

/** The text may have another length and is no longer compressed. */
function withoutLength(headers: Headers): Headers {
  const copy = new Headers(headers);
  copy.delete('content-length');
  copy.delete('content-encoding');
  return copy;
}
