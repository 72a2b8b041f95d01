import { STRICTEST_FORM, type RequestForm } from '@holdfast/core/driver';
import type { CalledModel } from '../values/called-model.ts';
import { PDF, PICTURES, SOUNDS } from './media-types.ts';
import { PROVIDER_DEMANDS, ROUTERS, type CallDemands } from './provider-demands.ts';

const UNKNOWN = unknownForm();

const ROWS = PROVIDER_DEMANDS.map(({ provider, model = '', demands, call }, index) => {
  return { index, provider: new RegExp(provider), model: new RegExp(model), demands, call };
});
const FORM_ROWS = ROWS.filter(({ demands }) => demands !== undefined);
const CALL_ROWS = ROWS.filter(({ call }) => call !== undefined);

/** The forms by the provider and the rows that they consist of. */
const forms = new Map<string, RequestForm>();

/** Returns what the provider of a model demands of a request. */
export function formOf(called: CalledModel): RequestForm {
  const behind = routed(called);
  const rows = FORM_ROWS.filter((row) => [behind, called].some((one) => isFor(row, one)));
  const [own = ''] = called.provider.split('.');
  const name = `${own} ${rows.map(({ index }) => index).join('+')}`;
  const form = forms.get(name) ?? joinedForm(name, own, rows);
  forms.set(name, form);
  return form;
}

/** Returns the demands that the driver meets in a call of a model. A router meets those of the provider behind it. */
export function callDemandsOf(called: CalledModel): CallDemands {
  let joined: CallDemands = {};
  for (const row of CALL_ROWS) if (isFor(row, called)) joined = { ...joined, ...row.call };
  return joined;
}

/**
 * Returns the form for providers that are not known: the strictest one, without demands that only few servers have and that
 * cost something: they are met after a refusal.
 */
function unknownForm(): RequestForm {
  const { textBeforeCalls: _, ...common } = STRICTEST_FORM;
  return {
    ...common,
    name: 'unknown',
    takesSingleCalls: false,
    declaresCalledTools: false,
    toolName: { first: 'A-Za-z_', characters: 'A-Za-z0-9_-', maxLength: 64 },
    callId: { characters: 'A-Za-z0-9_-', maxLength: 40 },
    takesReasoning: true,
    files: { user: `${PICTURES}|${PDF}|${SOUNDS}` },
  };
}

function isFor({ provider, model }: (typeof ROWS)[number], called: CalledModel): boolean {
  return provider.test(called.provider) && model.test(called.modelId);
}

/** `own`: the name of the provider's options. */
function joinedForm(name: string, own: string, rows: typeof ROWS): RequestForm {
  let form: RequestForm = { ...UNKNOWN, name: `demands ${name}`, optionNames: [own] };
  for (const { demands } of rows) form = { ...form, ...demands };
  return Object.freeze(form);
}

const ROUTER = new RegExp(ROUTERS);

/** True for a model behind a router, which converts each request for its provider. */
export function isRouted({ provider }: CalledModel): boolean {
  return ROUTER.test(provider);
}

/** The provider behind a router, which the id of the model names, as in `anthropic/claude-opus-5`. */
function routed({ provider, modelId }: CalledModel): CalledModel {
  if (!isRouted({ provider, modelId })) return { provider, modelId };
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
