import { z } from 'zod';
import { ofType, type Turn } from '../view.ts';
import { check, type Violation } from './check.ts';

function violationAt({ path, role }: Turn, before = ''): Violation {
  return { path, fill: { role, before } };
}

/** The first message after the system messages has one of these roles. */
export const firstRole = check(z.strictObject({ roles: z.array(z.string()) }), ({ turns }, { roles }) => {
  const first = turns.find(({ role }) => role !== 'system');
  return first && !roles.includes(first.role) ? [violationAt(first)] : [];
});

/** The last message has one of these roles. */
export const lastRole = check(z.strictObject({ roles: z.array(z.string()) }), ({ turns }, { roles }) => {
  const last = turns.at(-1);
  return last && !roles.includes(last.role) ? [violationAt(last)] : [];
});

/** A message of `role` does not stand directly after one of `after`; `first`: nor at the start. */
export const follows = check(
  z.strictObject({ role: z.string(), notAfter: z.array(z.string()), notFirst: z.boolean().optional() }),
  ({ turns }, { role, notAfter, notFirst = false }) =>
    turns
      .filter((turn, index) => {
        const before = turns[index - 1]?.role;
        return turn.role === role && (before === undefined ? notFirst : notAfter.includes(before));
      })
      .map((turn) => violationAt(turn, turns[turns.indexOf(turn) - 1]?.role)),
);

/** No two messages of one of these roles follow each other. `ignored` roles, and with `skipCalls` messages with calls, do not count. */
export const alternates = check(
  z.strictObject({
    roles: z.array(z.string()),
    ignored: z.array(z.string()).optional(),
    skipCalls: z.boolean().optional(),
  }),
  ({ turns }, { roles, ignored = [], skipCalls = false }) => {
    const counted = turns.filter(
      (turn) => !ignored.includes(turn.role) && !(skipCalls && ofType(turn, 'call').length > 0),
    );
    return counted
      .filter((turn, index) => roles.includes(turn.role) && counted[index - 1]?.role === turn.role)
      .map((turn) => violationAt(turn, turn.role));
  },
);

/** Messages of this role stand at the start only. */
export const onlyFirst = check(z.strictObject({ role: z.string() }), ({ turns }, { role }) => {
  const start = turns.findIndex((turn) => turn.role !== role);
  return turns
    .slice(Math.max(start, 0))
    .filter((turn) => turn.role === role)
    .map((turn) => violationAt(turn));
});

/** A message with calls follows directly on a message of the user, or on results. */
export const callsAfterUser = check(z.strictObject({}), ({ turns }) =>
  turns
    .filter((turn, index) => {
      const hasCalls = turn.parts.some(({ type }) => type === 'call');
      const before = turns[index - 1]?.role;
      return hasCalls && before !== 'user' && before !== 'tool';
    })
    .map((turn) => violationAt(turn)),
);
