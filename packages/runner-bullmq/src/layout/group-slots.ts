import type { GroupLimits, WakeUp } from '@holdfast/core/engine';
import { levelOf } from './job-order.ts';
import { sessionKeyOf, type QueueNames, type SlotKeys } from './queue-names.ts';
import { readJson } from './readable.ts';

/** More than any instant in milliseconds: sessions of a higher priority get a slot first. */
export const LEVEL = 2 ** 43;

/** The last arguments of a script for a group without a limit. */
const NO_LIMIT = ['', '', '', '', 0, 0] as const;

/** The last keys and arguments of the scripts: those of the slots of a group. */
export class GroupSlots {
  private readonly names: QueueNames;
  private readonly limits: GroupLimits;
  /** How long a lock and a slot last unless they are renewed. */
  readonly lockMilliseconds: number;

  constructor(names: QueueNames, limits: GroupLimits, lockMilliseconds: number) {
    this.names = names;
    this.limits = limits;
    this.lockMilliseconds = lockMilliseconds;
  }

  isLimited(group: string | undefined): boolean {
    return this.limits(group) !== Infinity;
  }

  keysOf(group: string | undefined): SlotKeys {
    return this.names.slotsOf(this.isLimited(group) ? nameOf(group) : '');
  }

  argsOf(wakeUp: WakeUp): readonly (string | number)[] {
    const { sessionId, at, priority = 0, group } = wakeUp;
    const limit = this.limits(group);
    if (limit === Infinity) return NO_LIMIT;
    const order = levelOf(priority) * LEVEL + at;
    const session = [sessionKeyOf(sessionId), JSON.stringify(wakeUp), order];
    return [nameOf(group), limit, ...session, this.lockMilliseconds];
  }

  /** The arguments of a script that works on no session. */
  argsOfGroup(group: string): readonly (string | number)[] {
    return [nameOf(group), this.limits(group), '', '', 0, this.lockMilliseconds];
  }
}

/** A group can be any string. */
function nameOf(group: string | undefined): string {
  return JSON.stringify(group ?? '');
}

/** Returns the group of a name; `undefined` for a name that no worker has stored. */
export function groupOf(name: string): string | undefined {
  const group = readJson(name);
  return typeof group === 'string' ? group : undefined;
}
