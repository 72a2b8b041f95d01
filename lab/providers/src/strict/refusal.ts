import { randomUUID } from 'node:crypto';
import type { WireResponse } from '../wire.ts';
import { jsonResponse } from '../wires/event-stream.ts';
import type { Context, Violation } from './checks/check.ts';
import { violationsOf, type Rule } from './rules.ts';
import type { Path, View } from './view.ts';

/** A rule that a request breaks, with the place and the provider's words. */
export interface Refusal {
  readonly rule: string;
  readonly path: string;
  readonly status: number;
  readonly message: string;
}

/** How a provider writes the place of a value: `messages.1.content.0` or `messages[1].content[0]`. */
export type PathStyle = 'dots' | 'brackets';

/** All refusals of a request by these rules, in the order of the rules. */
export function refusalsOf(
  rules: readonly Rule[],
  view: View,
  context: Context,
  style: PathStyle,
): readonly Refusal[] {
  return rules.flatMap((rule) =>
    violationsOf(rule, view, context).map((violation) => refusalOf(rule, violation, style)),
  );
}

function refusalOf({ id, status, error }: Rule, { path, fill = {} }: Violation, style: PathStyle): Refusal {
  const place = pathText(path, style);
  const index = path.find((step) => typeof step === 'number') ?? 0;
  const values: Readonly<Record<string, string | number>> = { path: place, index, ...fill };
  const message = error.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
  return { rule: id, path: place, status, message };
}

function pathText(path: Path, style: PathStyle): string {
  if (style === 'dots') return path.join('.');
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

/** Writes a refusal as a provider does. */
export type ErrorForm = (refusal: Refusal) => WireResponse;

/** The errors of OpenAI, and of most servers that speak its protocols. */
export const openAiError: ErrorForm = ({ message, path, status }) =>
  jsonResponse(
    { error: { message, type: 'invalid_request_error', param: path === '' ? null : path, code: null } },
    status,
  );

export const anthropicError: ErrorForm = ({ message, status }) => {
  const type = status === 413 ? 'request_too_large' : 'invalid_request_error';
  return jsonResponse({ type: 'error', error: { type, message }, request_id: `req_${randomUUID()}` }, status);
};

export const googleError: ErrorForm = ({ message, status }) =>
  jsonResponse({ error: { code: status, message, status: 'INVALID_ARGUMENT' } }, status);

export const bedrockError: ErrorForm = ({ message, status }) =>
  jsonResponse({ message }, status, { 'x-amzn-errortype': 'ValidationException' });

export const mistralError: ErrorForm = ({ message, status }) =>
  jsonResponse(
    {
      object: 'error',
      message,
      type: 'invalid_request_error',
      param: null,
      code: null,
      raw_status_code: status,
    },
    status,
  );

export const xaiError: ErrorForm = ({ message, status }) =>
  jsonResponse({ code: 'Client specified an invalid argument', error: message }, status);

export const openRouterError: ErrorForm = ({ message, status }) =>
  jsonResponse({ error: { message, code: status } }, status);

export const cohereError: ErrorForm = ({ message, status }) =>
  jsonResponse({ id: randomUUID(), message }, status);

export const ollamaError: ErrorForm = ({ message, status }) => jsonResponse({ error: message }, status);
