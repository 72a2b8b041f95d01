import { STRICTEST_FORM, type RequestForm } from '@holdfast/core/driver';
import type { CalledModel } from '../values/called-model.ts';
import { PROVIDER_DEMANDS } from './provider-demands.ts';

/**
 * The form for providers that are not known: the strictest one, with two exceptions. Reasoning goes back to the model that
 * gave it. Ids are shortened to nine characters only after a refusal, because few servers demand it.
 */
const UNKNOWN: RequestForm = {
  ...STRICTEST_FORM,
  name: 'unknown',
  takesReasoning: true,
  callId: { characters: 'A-Za-z0-9_-', maxLength: 40 },
};

const ROWS = PROVIDER_DEMANDS.map(({ provider, model = '', demands }, index) => {
  return { index, provider: new RegExp(provider), model: new RegExp(model), demands };
});

/** The forms by the rows that they consist of. */
const forms = new Map<string, RequestForm>();

/** Returns what the provider of a model demands of a request. */
export function formOf(called: CalledModel): RequestForm {
  const behind = routed(called);
  const rows = ROWS.filter((row) => [behind, called].some((one) => isFor(row, one)));
  const name = rows.map(({ index }) => index).join('+');
  const form = forms.get(name) ?? joinedForm(name, rows);
  forms.set(name, form);
  return form;
}

function isFor({ provider, model }: (typeof ROWS)[number], called: CalledModel): boolean {
  return provider.test(called.provider) && model.test(called.modelId);
}

function joinedForm(name: string, rows: typeof ROWS): RequestForm {
  if (rows.length === 0) return UNKNOWN;
  let form = { ...UNKNOWN, name: `demands ${name}` };
  for (const { demands } of rows) form = { ...form, ...demands };
  return Object.freeze(form);
}

/** The provider behind a router, which the id of the model names, as in `anthropic/claude-opus-5`. */
function routed({ provider, modelId }: CalledModel): CalledModel {
  if (!/^(gateway|openrouter)/.test(provider)) return { provider, modelId };
  const [family = '', ...rest] = modelId.split('/');
  const behind = ROUTED[family];
  return behind === undefined ? { provider, modelId } : { provider: behind, modelId: rest.join('/') };
}

/** The provider for each family of models behind a router. */
const ROUTED: Readonly<Record<string, string>> = {
  anthropic: 'anthropic.messages',
  openai: 'openai.responses',
  google: 'google.generative-ai',
  mistral: 'mistral.chat',
  mistralai: 'mistral.chat',
  cohere: 'cohere.chat',
  deepseek: 'deepseek.chat',
  moonshotai: 'moonshotai.chat',
  'x-ai': 'xai.chat',
  xai: 'xai.chat',
};
