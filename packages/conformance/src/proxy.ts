// The tools of the kit that need Node.
export { FaultProxy } from './proxy/fault-proxy.ts';
export type { FaultProxyOptions, ProxyTarget } from './proxy/fault-proxy.ts';
export type { Refusal, WireProtocol } from './proxy/wire-protocol.ts';
export type { Fault, StoreCost, StoreFaults } from './store/case/store-case.ts';
