import { describe, expect, test } from 'vitest';
import { AgentId, ExecutionId, MessageId, SessionId, StepId, ToolExecutionId } from '@holdfast/core/engine';

describe('ids', () => {
  const uuid = '01234567-89ab-cdef-0123-456789abcdef';
  const bad = [
    '',
    'x',
    `${uuid} `,
    `${uuid}\n`,
    uuid.replace('0', 'g'),
    uuid.replaceAll('-', ''),
    uuid.replaceAll('-', '_'),
    5,
    null,
    undefined,
    {},
    [uuid],
  ];
  test.for([AgentId, ExecutionId, StepId, ToolExecutionId])(
    'a kind of UUIDs refuses every other value',
    (kind) => {
      expect(kind.parse(uuid)).toBe(uuid);
      expect([kind.parse(uuid.toUpperCase()), kind.is(uuid.toUpperCase())]).toEqual([uuid, false]);
      expect(kind.is(kind.create())).toBe(true);
      expect(kind.create({ now: () => 0, newId: () => uuid })).toBe(uuid);
      for (const value of bad) {
        expect(kind.is(value)).toBe(false);
        expect(() => kind.parse(value)).toThrow(expect.objectContaining({ code: 'ID_INVALID' }));
      }
      expect(() => kind.create({ now: () => 0, newId: () => 'not one' })).toThrow(
        expect.objectContaining({ code: 'ID_INVALID' }),
      );
    },
  );
  test.for<[unknown, boolean]>([
    ['a', true],
    ['/../ ü \u0000 👩', true],
    ['x'.repeat(1_000), true],
    ['x'.repeat(1_001), false],
    ['', false],
    ['\ud800', false],
    [7, false],
  ])('%j as the id of a session or a message: %s', ([value, valid]) => {
    expect([SessionId.is(value), MessageId.is(value)]).toEqual([valid, valid]);
  });
});
