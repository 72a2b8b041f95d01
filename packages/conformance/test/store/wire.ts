import { StoreUnavailableError } from '@holdfast/core';
import { StoreThrottledError, type SessionBackend } from '@holdfast/core/store';
import type { Fault, StoreCost, StoreFaults } from '@holdfast/conformance';

/** The methods of a backend that write. */
const WRITES: ReadonlySet<string | symbol> = new Set(['compareAndSet', 'prune', 'discard']);

/** The wire between a store and its backend. It counts each call as a request, and injects faults. */
export class Wire implements StoreFaults {
  readonly kinds: readonly Fault[] = ['loseReply', 'cut', 'throttle'];
  private requests = 0;
  private bytes = 0;
  /** Counting bytes is slow, so it begins with the first measurement. */
  private isMeasured = false;
  private armed: { readonly fault: Fault; readonly request: number } | undefined;

  arm(fault: Fault, nth: number): void {
    this.armed = { fault, request: this.requests + nth };
  }

  disarm(): boolean {
    const isStruck = this.armed !== undefined && this.armed.request <= this.requests;
    this.armed = undefined;
    return isStruck;
  }

  readonly measure = async (): Promise<StoreCost> => {
    this.isMeasured = true;
    return { requests: this.requests, bytes: this.bytes };
  };

  /** Connects the wire to a backend. */
  to<T extends SessionBackend>(backend: T): T {
    return new Proxy(backend, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function' || name === 'close') return member;
        return (...args: unknown[]) => this.send(name, args, () => member.apply(target, args));
      },
    });
  }

  private async send(
    name: string | symbol,
    args: readonly unknown[],
    carryOut: () => Promise<unknown>,
  ): Promise<unknown> {
    const isHit = ++this.requests === this.armed?.request;
    const fault = isHit ? this.armed?.fault : undefined;
    if (fault === 'throttle') throw new StoreThrottledError('Too many requests.');
    if (fault === 'cut') throw new StoreUnavailableError('The connection was cut.', { isAmbiguous: false });
    const reply = await carryOut();
    if (this.isMeasured) this.bytes += sizeOf(args) + sizeOf(reply);
    const isAmbiguous = WRITES.has(name);
    if (fault === 'loseReply') throw new StoreUnavailableError('The reply was lost.', { isAmbiguous });
    return reply;
  }
}

function sizeOf(value: unknown): number {
  const json = JSON.stringify(value, (_, member: unknown) => (member instanceof Map ? [...member] : member));
  return json?.length ?? 0;
}
