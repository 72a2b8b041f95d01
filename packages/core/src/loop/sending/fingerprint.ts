import { textHash } from '../../state/values/text-hash.ts';
import type { Message, Messages } from '../../state/messages/messages.ts';
import type { InferenceRequest, ToolDescription } from '../inference/driver.ts';

const toolHashes = new WeakMap<readonly ToolDescription[], string>();

/** The members of a request before its messages, and the model that receives them. */
export interface RequestStart extends Pick<InferenceRequest, 'systemPrompt' | 'tools'> {
  readonly model: string | undefined;
}

/** True when both requests begin in the same way. */
export function isSameStart(left: RequestStart, right: RequestStart): boolean {
  return left.tools === right.tools && left.systemPrompt === right.systemPrompt && left.model === right.model;
}

/** Returns the fingerprint of the part of a request before its messages. */
function fingerprintOfStart({ model, systemPrompt, tools }: RequestStart): string {
  let hash = toolHashes.get(tools);
  if (hash === undefined) {
    const described = tools.map(({ name, description, inputSchema, providerTool }) => {
      return [name, description, inputSchema, providerTool?.id, providerTool?.args];
    });
    hash = textHash(JSON.stringify(described));
    toolHashes.set(tools, hash);
  }
  return textHash(JSON.stringify([model, systemPrompt, hash]));
}

/** The fingerprint of the first messages of a request, with all that stands before them. */
export interface Fingerprint {
  /** The number of messages. */
  readonly count: number;
  /** `undefined` for no messages: it is computed when it is needed. */
  readonly value: string | undefined;
}

export const NO_FINGERPRINT: Fingerprint = Object.freeze({ count: 0, value: undefined });

/** Returns the fingerprint of the first `count` messages, from the fingerprint of some of them. */
export function grownFingerprint(
  known: Fingerprint,
  start: RequestStart,
  sent: Messages,
  count = sent.length,
): Fingerprint & { readonly value: string } {
  let value = known.value ?? fingerprintOfStart(start);
  for (const { role, content } of sent.slice(known.count, count)) value = joined(value, role, content);
  return { count, value };
}

function joined(before: string, role: Message['role'], content: Message['content']): string {
  return textHash(`${before} ${role} ${JSON.stringify(content)}`);
}
