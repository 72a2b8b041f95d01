import { TestTable } from './sqlite-queue.ts';
import type { OpenTable } from './sqlite-queue.ts';
import type { WakeUp } from './wake-up-table.ts';

/** A table that does not store some wake-ups. */
class ForgetfulTable extends TestTable {
  protected hasRow(condition: string, ...values: (string | number)[]): boolean {
    return this.database.prepare(`SELECT 1 FROM wake_ups WHERE ${condition}`).get(...values) !== undefined;
  }

  protected clean(sql: string, ...values: (string | number)[]): void {
    this.database.prepare(sql).run(...values);
  }
}

/** A table that changes the stored rows when an engine opens it. */
const changingAtOpen =
  (sql: string): OpenTable =>
  (path) => {
    const Changing = class extends ForgetfulTable {
      constructor() {
        super(path);
        this.clean(sql);
      }
    };
    return new Changing();
  };

/** Tables with a defect. */
export const brokenTables: Readonly<Record<string, OpenTable>> = {
  'stores wake-ups in memory': () => new TestTable(':memory:'),
  'stores one wake-up for each session': (path) =>
    new (class extends ForgetfulTable {
      override add(wakeUp: WakeUp): void {
        const session = JSON.stringify(wakeUp.sessionId);
        if (!this.hasRow('session = ? AND lock IS NULL', session)) super.add(wakeUp);
      }
    })(path),
  'stores the last instant of each session': (path) =>
    new (class extends ForgetfulTable {
      override add(wakeUp: WakeUp): void {
        const session = JSON.stringify(wakeUp.sessionId);
        this.clean('DELETE FROM wake_ups WHERE session = ? AND lock IS NULL', session);
        super.add(wakeUp);
      }
    })(path),
  'forgets wake-ups of a session that a worker has locked': (path) =>
    new (class extends ForgetfulTable {
      override add(wakeUp: WakeUp): void {
        const session = JSON.stringify(wakeUp.sessionId);
        if (!this.hasRow('session = ? AND lock IS NOT NULL', session)) super.add(wakeUp);
      }
    })(path),
  'removes the wake-ups of a session when a worker takes it': (path) =>
    new (class extends ForgetfulTable {
      override take(...args: Parameters<TestTable['take']>): string | undefined {
        const sessionId = super.take(...args);
        this.clean('DELETE FROM wake_ups WHERE lock IS NOT NULL');
        return sessionId;
      }
      override renew(): boolean {
        return true;
      }
    })(path),
  'removes wake-ups that arrived during an advance': (path) =>
    new (class extends ForgetfulTable {
      override finish(...args: Parameters<TestTable['finish']>): void {
        this.clean(
          'DELETE FROM wake_ups WHERE lock IS NULL AND session IN (SELECT session FROM wake_ups WHERE lock = ?)',
          args[0],
        );
        super.finish(...args);
      }
    })(path),
  'locks wake-ups instead of sessions': (path) =>
    new (class extends ForgetfulTable {
      override take(...[now, lock, lockedUntil]: Parameters<TestTable['take']>): string | undefined {
        const due =
          'SELECT number, session FROM wake_ups WHERE at <= ? AND locked_until <= ? ORDER BY number';
        const { number, session } = this.database.prepare(due).get(now, now) ?? {};
        if (session === undefined) return undefined;
        const take = 'UPDATE wake_ups SET lock = ?, locked_until = ? WHERE number = ?';
        this.clean(take, lock, lockedUntil, Number(number));
        return String(JSON.parse(String(session)));
      }
    })(path),
  'never ends the lock of a dead worker': (path) =>
    new (class extends TestTable {
      override take(...[now, lock]: Parameters<TestTable['take']>): string | undefined {
        return super.take(now, lock, Number.MAX_SAFE_INTEGER);
      }
      override renew(lock: string): boolean {
        return super.renew(lock, Number.MAX_SAFE_INTEGER);
      }
    })(path),
  'never renews a lock': (path) =>
    new (class extends TestTable {
      override renew(): boolean {
        return true;
      }
    })(path),
  'does not abort an advance whose lock is lost': (path) =>
    new (class extends TestTable {
      override renew(...args: Parameters<TestTable['renew']>): boolean {
        super.renew(...args);
        return true;
      }
    })(path),
  'aborts a long advance': (path) =>
    new (class extends TestTable {
      override renew(...args: Parameters<TestTable['renew']>): boolean {
        super.renew(...args);
        return false;
      }
    })(path),
  'ends the lock of the next worker': (path) =>
    new (class extends ForgetfulTable {
      private readonly sessions = new Map<string, string>();
      override take(...args: Parameters<TestTable['take']>): string | undefined {
        const sessionId = super.take(...args);
        if (sessionId !== undefined) this.sessions.set(args[1], JSON.stringify(sessionId));
        return sessionId;
      }
      override finish(...args: Parameters<TestTable['finish']>): void {
        const session = this.sessions.get(args[0]) ?? '';
        this.clean('DELETE FROM wake_ups WHERE lock IS NOT NULL AND session = ?', session);
        super.finish(...args);
      }
    })(path),
  'does not end its lock after an advance': (path) =>
    new (class extends TestTable {
      override finish(lock: string, ...rest: [readonly WakeUp[]]): void {
        super.finish(`not ${lock}`, ...rest);
      }
    })(path),
  'forgets the pause of a lane': (path) =>
    new (class extends TestTable {
      override finish(...[lock, following]: Parameters<TestTable['finish']>): void {
        super.finish(lock, following);
      }
    })(path),
  'forgets lanes when it is opened': changingAtOpen("UPDATE wake_ups SET lane = ''"),
  'forgets priorities when it is opened': changingAtOpen('UPDATE wake_ups SET priority = 0'),
  'forgets the pauses of lanes when it is opened': changingAtOpen('UPDATE lanes SET paused_until = 0'),
  'forgets instants when it is opened': changingAtOpen('UPDATE OR REPLACE wake_ups SET at = 0'),
  'forgets late instants when it is opened': (path, clock) => {
    const Late = class extends ForgetfulTable {
      constructor() {
        super(path);
        this.clean('DELETE FROM wake_ups WHERE at < ?', clock.now());
      }
    };
    return new Late();
  },
};
