import type { TextPart } from '../../state/messages/messages.ts';

/** True for text of white space only. */
export function isBlank(text: string): boolean {
  return text.charCodeAt(0) > 0x20 && text.charCodeAt(0) < 0x80 ? false : text.trim() === '';
}

/** Returns a text part. */
export function textPart(text: string): TextPart {
  return Object.freeze({ type: 'text', text });
}
