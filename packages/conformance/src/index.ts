export { sessionStoreCases } from './store/session-store-cases.ts';
export { sessionStoreTests } from './store/session-store-tests.ts';
export { assertStoreCosts, sessionStoreCosts } from './store/store-costs.ts';
export type { MeasuredOperation } from './store/store-costs.ts';
export { newSession, START, testClock, withFact } from './store/store-case.ts';
export type {
  CreateStore,
  Fault,
  SessionStoreCase,
  SessionStoreGroup,
  SetBack,
  StoreAbilities,
  StoreCost,
  StoreFaults,
  StoreSettings,
  TestClock,
} from './store/store-case.ts';
export { driverCases } from './driver/driver-cases.ts';
export { driverTests } from './driver/driver-tests.ts';
export type {
  CreateDriver,
  DriverCase,
  DriverUnderTest,
  ProviderReply,
  ProviderRequest,
} from './driver/driver-case.ts';
export { engineCases } from './engine/engine-cases.ts';
export { engineTests } from './engine/engine-tests.ts';
export type {
  CreateEngine,
  EngineAbilities,
  EngineCase,
  EngineGroup,
  EngineUnderTest,
} from './engine/engine-case.ts';
export type { ConformanceTest } from './conformance-test.ts';
