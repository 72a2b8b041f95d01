import type { Issuer } from '../../../src/strict/issuer.ts';
import type { Members, View } from '../../../src/strict/view.ts';

/** Which conversation a request has. `open`: it ends with results. `prefill`: it ends with an answer. */
export interface BaseOptions {
  readonly model: string;
  readonly thinking: View['thinking'];
  readonly hasTools: boolean;
  readonly end: 'user' | 'open' | 'prefill';
}

/** A picture of one pixel. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const PDF = Buffer.from('%PDF-1.4 /Type /Page ').toString('base64');
/** The schema of each tool. */
export const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
/** The place of a signature. */
export const SIGN = 'SIGN';
export const IDS = ['call00001', 'call00002'] as const;
export const USER = 'How is the weather?';

/** Builds the body of a request. */
export type Base = (options: BaseOptions, dialects: readonly string[], issuer: Issuer) => Members;

/** The messages that belong to an end of the conversation. */
export function ended<Message>(
  { end, hasTools }: BaseOptions,
  parts: {
    readonly start: readonly Message[];
    readonly calls: readonly Message[];
    readonly answer: Message;
    readonly user: Message;
  },
): readonly Message[] {
  const before = [...parts.start, ...(hasTools ? parts.calls : [])];
  if (end === 'open') return before;
  return end === 'prefill' ? [...before, parts.answer] : [...before, parts.answer, parts.user];
}
