import { withoutSteered } from '@holdfast/ui-ai-sdk';
import type { UIMessage } from 'ai';
import { expect, test } from 'vitest';

const user = (id: string): UIMessage => ({ id, role: 'user', parts: [{ type: 'text', text: id }] });

test('hides the page’s own copy of a message that the execution used on its way', () => {
  const assistant: UIMessage = {
    id: 'e1',
    role: 'assistant',
    parts: [{ type: 'steering-message', id: 'two', parts: [{ type: 'text', text: 'two' }] }],
  };
  const messages = [user('one'), assistant, user('two'), user('three')];
  expect(withoutSteered(messages).map(({ id }) => id)).toEqual(['one', 'e1', 'three']);
});
