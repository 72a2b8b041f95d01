import type { Fault, StoreCost, StoreFaults } from '@holdfast/conformance';
import { throttled } from './fault-proxy.ts';
import type { FaultProxy } from './fault-proxy.ts';

/** Injects the faults of the conformance cases by a proxy. */
export class ProxiedFaults implements StoreFaults {
  readonly kinds: readonly Fault[] = ['loseReply', 'cut', 'throttle'];
  private readonly proxy: () => FaultProxy;
  private isStruck = false;

  constructor(proxy: () => FaultProxy) {
    this.proxy = proxy;
  }

  arm(fault: Fault, nth: number): void {
    let left = nth;
    this.isStruck = false;
    this.proxy().fault = async (_, forward) => {
      if (--left !== 0) return forward();
      this.isStruck = true;
      if (fault === 'throttle') return throttled();
      if (fault === 'loseReply') await forward();
      return 'cut';
    };
  }

  disarm(): boolean {
    this.proxy().fault = undefined;
    return this.isStruck;
  }

  readonly measure = async (): Promise<StoreCost> => ({ ...this.proxy().cost });
}
