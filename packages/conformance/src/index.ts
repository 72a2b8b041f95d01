export { sessionStoreCases } from './store/session-store-cases.ts';
export { sessionStoreTests } from './store/session-store-tests.ts';
export { assertStoreCosts, sessionStoreCosts } from './store/store-costs.ts';
export type { MeasuredOperation, StoreCosts } from './store/store-costs.ts';
export { newSession, START, testClock, withFact } from './store/case/store-case.ts';
export type {
  CreateStore,
  Fault,
  ListFilter,
  SessionStoreCase,
  SessionStoreGroup,
  SessionStoreHarness,
  SetBack,
  StoreAbilities,
  StoreCost,
  StoreFaults,
  StoreNeed,
  StoreSettings,
  StoreUnderTest,
  TestedStore,
  TestClock,
} from './store/case/store-case.ts';
export { driverCases } from './driver/driver-cases.ts';
export { driverTests } from './driver/driver-tests.ts';
export { callWith, REFUSALS, saidIn } from './driver/provider.ts';
export type {
  Interruption,
  ProviderCall,
  ProviderContent,
  ProviderReply,
  ProviderRequest,
  ProviderUsage,
  Refusal,
  SentFile,
  SentPart,
} from './driver/provider.ts';
export type {
  CreateDriver,
  DriverAbilities,
  DriverCase,
  DriverGroup,
  DriverHarness,
  DriverNeed,
  DriverUnderTest,
} from './driver/driver-case.ts';
export { engineCases } from './engine/engine-cases.ts';
export { engineTests } from './engine/engine-tests.ts';
export type {
  CreateEngine,
  EngineAbilities,
  EngineAbility,
  EngineCase,
  EngineGroup,
  EngineHarness,
  EngineUnderTest,
} from './engine/case/engine-case.ts';
export { spendingLedgerCases } from './spending/spending-ledger-cases.ts';
export { spendingLedgerTests } from './spending/spending-ledger-tests.ts';
export type {
  CreateLedger,
  LedgerAbilities,
  LedgerUnderTest,
  SpendingLedgerCase,
  SpendingLedgerGroup,
  SpendingLedgerHarness,
} from './spending/ledger-case.ts';
export { channelCases } from './channel/channel-cases.ts';
export { channelTests } from './channel/channel-tests.ts';
export type {
  ChannelAbilities,
  ChannelAbility,
  ChannelCase,
  ChannelGroup,
  ChannelHarness,
  ChannelUnderTest,
  CreateChannel,
} from './channel/channel-case.ts';
export { runWorkerProcess } from './engine/case/worker-process.ts';
export type { WorkerProcess } from './engine/case/worker-messages.ts';
export type { ConformanceTest } from './run/conformance-test.ts';
export type { Closable, Harness } from './run/harness.ts';
export type { WaitTimes } from './run/waiting.ts';
