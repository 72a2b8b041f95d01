import type { WakeUp } from '@holdfast/core/engine';
import { TestTable, type OpenTable } from './sqlite-queue.ts';
import type { TableLock, TableOptions } from './wake-up-table.ts';

type Finish = Parameters<TestTable['finish']>;

/** A table whose rows a defect reads and changes. */
class ForgetfulTable extends TestTable {
  protected hasRow(condition: string, ...values: (string | number)[]): boolean {
    return this.database.prepare(`SELECT 1 FROM wake_ups WHERE ${condition}`).get(...values) !== undefined;
  }

  protected lockFor(id: string, end: number): void {
    this.run('UPDATE wake_ups SET locked_until = ? WHERE lock = ?', end, id);
  }
}

/** A table that changes the stored rows when an engine opens it. */
const changingAtOpen =
  (sql: string): OpenTable =>
  (...args) =>
    new (class extends ForgetfulTable {
      constructor(...given: [string, TableOptions]) {
        super(...given);
        this.run(sql);
      }
    })(...args);

const FOR_EVER = Number.MAX_SAFE_INTEGER;

/** Defects in storing wake-ups. */
const storing: Readonly<Record<string, OpenTable>> = {
  'stores wake-ups in memory': (_, options) => new TestTable(':memory:', options),
  'stores one wake-up for each session': (...args) =>
    new (class extends ForgetfulTable {
      protected override store(wakeUp: WakeUp): void {
        const session = JSON.stringify(wakeUp.sessionId);
        if (!this.hasRow('session = ? AND lock IS NULL', session)) super.store(wakeUp);
      }
    })(...args),
  'stores the last instant of each session': (...args) =>
    new (class extends ForgetfulTable {
      protected override store(wakeUp: WakeUp): void {
        const session = JSON.stringify(wakeUp.sessionId);
        this.run('DELETE FROM wake_ups WHERE session = ? AND lock IS NULL', session);
        super.store(wakeUp);
      }
    })(...args),
  'forgets wake-ups of a session that a worker has locked': (...args) =>
    new (class extends ForgetfulTable {
      protected override store(wakeUp: WakeUp): void {
        const session = JSON.stringify(wakeUp.sessionId);
        if (!this.hasRow('session = ? AND lock IS NOT NULL', session)) super.store(wakeUp);
      }
    })(...args),
  'removes the wake-ups of a session when a worker takes it': (...args) =>
    new (class extends ForgetfulTable {
      override async take(): Promise<TableLock | undefined> {
        const lock = await super.take();
        this.run('DELETE FROM wake_ups WHERE lock IS NOT NULL');
        return lock;
      }
      override async renew(): Promise<TableLock[]> {
        return [];
      }
    })(...args),
  'removes wake-ups that arrived during an advance': (...args) =>
    new (class extends ForgetfulTable {
      override async finish(...[lock, following]: Finish): Promise<void> {
        this.run(
          'DELETE FROM wake_ups WHERE lock IS NULL AND session IN (SELECT session FROM wake_ups WHERE lock = ?)',
          lock.id,
        );
        await super.finish(lock, following);
      }
    })(...args),
};

/** Defects in the locks of sessions, and in the pause of a lane. */
const locking: Readonly<Record<string, OpenTable>> = {
  'locks wake-ups instead of sessions': (...args) =>
    new (class extends ForgetfulTable {
      override async take(): Promise<TableLock | undefined> {
        this.changed = Promise.withResolvers();
        const now = args[1].clock.now();
        const due =
          'SELECT number, session FROM wake_ups WHERE at <= ? AND locked_until <= ? ORDER BY number';
        const { number, session } = this.database.prepare(due).get(now, now) ?? {};
        if (session === undefined) return undefined;
        const id = `${String(number)} ${Math.random()}`;
        this.run('UPDATE wake_ups SET lock = ? WHERE number = ?', id, Number(number));
        this.lockFor(id, now + this.lockSeconds * 1_000);
        return { id, sessionId: String(JSON.parse(String(session))), schedule: {} };
      }
    })(...args),
  'never ends the lock of a dead worker': (...args) =>
    new (class extends ForgetfulTable {
      override async take(): Promise<TableLock | undefined> {
        const lock = await super.take();
        if (lock) this.lockFor(lock.id, FOR_EVER);
        return lock;
      }
      override async renew(): Promise<TableLock[]> {
        return [];
      }
    })(...args),
  'never renews a lock': (...args) =>
    new (class extends TestTable {
      override async renew(): Promise<TableLock[]> {
        return [];
      }
    })(...args),
  'does not abort an advance whose lock is lost': (...args) =>
    new (class extends TestTable {
      override async renew(locks: readonly TableLock[]): Promise<TableLock[]> {
        await super.renew(locks);
        return [];
      }
    })(...args),
  'aborts a long advance': (...args) =>
    new (class extends TestTable {
      override async renew(locks: readonly TableLock[]): Promise<TableLock[]> {
        await super.renew(locks);
        return [...locks];
      }
    })(...args),
  'ends the lock of the next worker': (...args) =>
    new (class extends ForgetfulTable {
      override async finish(...[lock, following]: Finish): Promise<void> {
        const session = JSON.stringify(lock.sessionId);
        this.run('DELETE FROM wake_ups WHERE lock IS NOT NULL AND session = ?', session);
        await super.finish(lock, following);
      }
    })(...args),
  'does not end its lock after an advance': (...args) =>
    new (class extends TestTable {
      override async finish(...[lock, following]: Finish): Promise<void> {
        await super.finish({ ...lock, id: `not ${lock.id}` }, following);
      }
    })(...args),
  'forgets the pause of a lane': (...args) =>
    new (class extends TestTable {
      override async finish(...[lock, { wakeUps }]: Finish): Promise<void> {
        await super.finish(lock, { wakeUps });
      }
    })(...args),
};

/** Tables with a defect. */
export const brokenTables: Readonly<Record<string, OpenTable>> = {
  ...storing,
  ...locking,
  'forgets lanes when it is opened': changingAtOpen("UPDATE wake_ups SET lane = 'null'"),
  'forgets priorities when it is opened': changingAtOpen('UPDATE wake_ups SET priority = 0'),
  'forgets groups when it is opened': changingAtOpen("UPDATE wake_ups SET group_name = 'null'"),
  'forgets the pauses of lanes when it is opened': changingAtOpen('UPDATE lanes SET paused_until = 0'),
  'forgets instants when it is opened': changingAtOpen('UPDATE OR REPLACE wake_ups SET at = 0'),
  'forgets late instants when it is opened': (...args) =>
    changingAtOpen(`DELETE FROM wake_ups WHERE at < ${args[1].clock.now()}`)(...args),
};
