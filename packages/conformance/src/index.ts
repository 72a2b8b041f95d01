export { sessionStoreCases } from './store/session-store-cases.ts';
export { newSession, START, testClock, withFact } from './store/store-case.ts';
export type { CreateStore, SessionStoreCase, TestClock } from './store/store-case.ts';
