import { isReasoning } from '../../state/messages/message-parts.ts';
import { isJsonObject } from '../../json.ts';
import { some } from '../../state/values/frozen-array.ts';
import type { AssistantPart, ToolCallPart } from '../../state/messages/messages.ts';
import type { RequestForm } from '../inference/request-form.ts';
import { hasOption } from './repaired-parts.ts';
import { textPart } from './text-part.ts';

/** True for a call of a tool that the provider does not run itself. */
export function isCall(part: AssistantPart): part is ToolCallPart {
  return part.type === 'tool-call' && part.providerExecuted !== true;
}

/** Adds what the provider demands of a message with calls: a text and reasoning before them, and options of the first one. */
export function addNeedsOfCalls(parts: AssistantPart[], form: RequestForm): void {
  const { textBeforeCalls, reasoningBeforeCalls } = form;
  const first = parts.findIndex(isCall);
  if (first === -1) return;
  addCallOptions(parts, first, form);
  if (textBeforeCalls !== undefined && !some(parts, isText))
    parts.splice(first, 0, textPart(textBeforeCalls));
  if (reasoningBeforeCalls !== undefined && !some(parts, isReasoning))
    parts.unshift(Object.freeze({ type: 'reasoning', text: reasoningBeforeCalls }));
}

function isText({ type }: AssistantPart): boolean {
  return type === 'text';
}

function addCallOptions(parts: AssistantPart[], first: number, { callOptions }: RequestForm): void {
  const call = parts[first] as ToolCallPart;
  if (callOptions === undefined) return;
  const missing = Object.entries(callOptions).filter(([, members]) => !hasOption(call, Object.keys(members)));
  if (missing.length === 0) return;
  const added = missing.map(([provider, members]) => {
    const given = call.providerOptions?.[provider];
    return [provider, { ...(isJsonObject(given) ? given : undefined), ...members }];
  });
  const providerOptions = { ...call.providerOptions, ...Object.fromEntries(added) };
  parts[first] = Object.freeze({ ...call, providerOptions: Object.freeze(providerOptions) });
}
