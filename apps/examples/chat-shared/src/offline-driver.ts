import { setTimeout as pause } from 'node:timers/promises';
import { textOf, type JsonObject, type Message } from '@holdfast/core';
import type { AssistantPart, Driver } from '@holdfast/core/driver';

/** The milliseconds between two words. */
const PACE = 30;

/** A model that needs no network and no key. It understands "pay 5", "print 3", "time" and "count to 20". */
export const offlineDriver: Driver = {
  async infer({ messages }, { signal, onDelta }) {
    const last = messages.at(-1);
    const call = last?.role === 'user' ? callFor(textOf(last)) : undefined;
    if (call) return { content: [call] };
    let text = '';
    for (const word of replyTo(last).split(/(?<= )/)) {
      if (signal.aborted) return { content: [{ type: 'text', text }], finishReason: 'aborted' };
      onDelta?.({ type: 'text', id: 'reply', text: word });
      text += word;
      await pause(PACE, undefined, { signal }).catch(() => undefined); // the signal ends the pause
    }
    return { content: [{ type: 'text', text }] };
  },
};

function callFor(text: string): AssistantPart | undefined {
  const [, verb, amount] = /\b(pay|print|time)\b\D*(\d+)?/i.exec(text.toLowerCase()) ?? [];
  if (verb === 'pay') return toolCall('pay', { euros: Number(amount ?? 5) });
  if (verb === 'print') return toolCall('print', { pages: Number(amount ?? 3) });
  return verb === 'time' ? toolCall('timeZone', {}) : undefined;
}

function toolCall(toolName: string, input: JsonObject): AssistantPart {
  return { type: 'tool-call', toolCallId: crypto.randomUUID(), toolName, input };
}

function replyTo(last: Message | undefined): string {
  if (last?.role === 'tool') return `The result: ${last.content.map(resultOf).join(', ')}`;
  const [, end] = /count to (\d+)/i.exec(last ? textOf(last) : '') ?? [];
  if (end === undefined) return 'Ask me to pay 5, to print 3, for the time, or to count to 20.';
  return Array.from({ length: Number(end) }, (_, index) => index + 1).join(' ');
}

type ToolMessage = Extract<Message, { readonly role: 'tool' }>;

function resultOf({ output }: ToolMessage['content'][number]): string {
  if (output.type === 'execution-denied') return 'denied';
  return typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
}
