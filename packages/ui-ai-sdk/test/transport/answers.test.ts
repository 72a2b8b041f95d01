import type { UIMessage } from 'ai';
import { describe, expect, test } from 'vitest';
import { hasNewAnswer } from '../../src/transport/answers.ts';

type Call = UIMessage['parts'][number];

const call = (state: string, toolCallId = 'a', more: object = {}): Call =>
  ({ type: 'tool-pay', toolCallId, state, input: {}, approval: { id: toolCallId }, ...more }) as Call;
const message = (...parts: Call[]): UIMessage => ({ id: 'x', role: 'assistant', parts });

describe('a page has a new answer', () => {
  test.each<[string, UIMessage, UIMessage | undefined]>([
    ['a decision', message(call('approval-responded')), message(call('approval-requested'))],
    ['a result', message(call('output-available')), message(call('input-available'))],
    ['an error', message(call('output-error')), message(call('input-available'))],
    ['a decision on an unknown message', message(call('approval-responded')), undefined],
  ])('%s', (_, shown, known) => {
    expect(hasNewAnswer(shown, known)).toBe(true);
  });
});

describe('a page has no new answer', () => {
  test.each<[string, UIMessage, UIMessage | undefined]>([
    ['a call that waits', message(call('approval-requested')), message(call('approval-requested'))],
    ['a decision that was sent', message(call('approval-responded')), message(call('approval-responded'))],
    ['a decision after the call', message(call('approval-responded')), message(call('output-available'))],
    ['a decision on a call that is gone', message(call('approval-responded')), message(call('x', 'b'))],
    ['a result of the server', message(call('output-available')), undefined],
    [
      'a result of the provider',
      message(call('output-available')),
      message(call('input-available', 'a', { providerExecuted: true })),
    ],
  ])('%s', (_, shown, known) => {
    expect(hasNewAnswer(shown, known)).toBe(false);
  });
});
