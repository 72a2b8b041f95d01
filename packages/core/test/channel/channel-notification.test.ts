import { readChannelNotification, writeChannelNotification } from '@holdfast/core/channel';
import { expect, test } from 'vitest';

test.each([
  { type: 'look' },
  { type: 'look', itemId: 'i' },
  { type: 'stop', executionId: 'e\0"', itemId: 'i\0"' },
] as const)('the notification %j is read as it was written', (notification) => {
  expect(readChannelNotification(writeChannelNotification(notification))).toEqual(notification);
});

test.each(['', '{', 'null', '[]', '{"type":"later"}', '{"executionId":1,"itemId":2}'])(
  'the text %s is a request to look',
  (text) => {
    expect(readChannelNotification(text)).toEqual({ type: 'look' });
  },
);
