import { assistantMessage, systemMessage, userMessage, type Message } from '@holdfast/core';
import { toolMessage, type AssistantPart, type MessagePart } from '@holdfast/core/driver';
import { expect } from 'vitest';

/**
 * Messages in one line: `u` a user, `s` a system message, `a` an answer of text, `t:1,2` results of calls. An answer
 * may have parts: `a:r,1,x` is reasoning, a call `1` and text; `<1` is a call that the provider runs, `>1` its
 * result, `x` text, `e` an empty text, `c` a source, `o` something only the provider understands.
 */
export function written(line: string): Message[] {
  return line
    .split(' ')
    .filter(Boolean)
    .map((word) => {
      const [role, list] = word.split(':');
      const names = list?.split(',').filter(Boolean);
      if (role === 'u') return userMessage('u');
      if (role === 's') return systemMessage('s');
      if (role === 't') return toolMessage((names ?? []).map(result));
      return assistantMessage((names ?? ['x']).map(part));
    });
}

function result(toolCallId: string): AssistantPart & { readonly type: 'tool-result' } {
  return { type: 'tool-result', toolCallId, toolName: 'x', output: { type: 'text', value: 'y' } };
}

function call(toolCallId: string): AssistantPart {
  return { type: 'tool-call', toolCallId, toolName: 'x', input: {} };
}

function part(name: string): AssistantPart {
  if (name.startsWith('<')) return { ...call(name.slice(1)), providerExecuted: true } as AssistantPart;
  if (name.startsWith('>')) return result(name.slice(1));
  if (name === 'x') return { type: 'text', text: 'a' };
  if (name === 'e') return { type: 'text', text: '' };
  if (name === 'r') return { type: 'reasoning', text: 'hm' };
  if (name === 'c') return { type: 'source', source: { url: 'https://a.example' } };
  return name === 'o' ? { type: 'custom', kind: 'x.y' } : call(name);
}

/** The same back again; a result that was made up is marked with `!`. */
export function line(messages: Iterable<Message>): string {
  return [...messages]
    .map(({ role, content }) => {
      if (role === 'user' || role === 'system') return role.charAt(0);
      const names = content.map((one) => nameOf(one, role)).join(',');
      return role === 'assistant' && names === 'x' ? 'a' : `${role.charAt(0)}:${names}`;
    })
    .join(' ');
}

function nameOf(one: MessagePart, role: Message['role']): string {
  switch (one.type) {
    case 'tool-call':
      return (one.providerExecuted ? '<' : '') + one.toolCallId;
    case 'tool-result':
      return (role === 'tool' ? '' : '>') + one.toolCallId + (one.output.type === 'error-text' ? '!' : '');
    case 'text':
      return one.text === '' ? 'e' : 'x';
    default:
      return { reasoning: 'r', 'reasoning-file': 'rf', source: 'c', custom: 'o', file: 'f' }[one.type];
  }
}

/**
 * What the providers together demand of a list: results directly after their calls and none besides, each call with
 * an id of its own, nothing empty, reasoning always before something, calls of the provider answered by the end of
 * their turn, and no answer twice.
 */
export function expectValid(messages: Iterable<Message>): void {
  const [open, awaited, ids, answers] = [new Set<string>(), new Set<string>(), new Set(), new Set()];
  for (const message of messages) {
    if (message.role === 'tool') {
      expect(message.content).not.toEqual([]);
      for (const { toolCallId } of message.content)
        expect(open.delete(toolCallId), `call ${toolCallId}`).toBe(true);
      continue;
    }
    expect([...open], 'calls without a result').toEqual([]);
    if (message.role === 'user') expect([...awaited], 'calls that the provider left open').toEqual([]);
    if (message.role !== 'assistant') continue;
    expect(answers, 'answers that are there twice').not.toContain(JSON.stringify(message));
    answers.add(JSON.stringify(message));
    const sent = message.content.filter(
      (one) => one.type !== 'source' && (one as { text?: string }).text !== '',
    );
    expect(sent).not.toEqual([]);
    expect(sent.at(-1)?.type).not.toBe('reasoning');
    for (const one of message.content) {
      if (one.type === 'tool-result')
        expect(awaited.delete(one.toolCallId), `call ${one.toolCallId}`).toBe(true);
      if (one.type !== 'tool-call') continue;
      if (!one.providerExecuted) expect(ids, 'ids of earlier calls').not.toContain(one.toolCallId);
      ids.add(one.toolCallId);
      (one.providerExecuted ? awaited : open).add(one.toolCallId);
    }
  }
  expect([...open], 'calls without a result').toEqual([]);
}
