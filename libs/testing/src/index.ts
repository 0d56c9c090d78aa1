export {
  aBudget,
  aClaim,
  anIssuedSession,
  aRecordedFailure,
  aServerPublicKey,
  aSession,
  someSettings,
} from './builders.js';
export { FakeClock } from './fake-clock.js';
export { describeSessionStoreContract } from './session-store-contract/session-store-contract.js';
export type { MakeStore, StoreUnderTest } from './session-store-contract/store-under-test.js';
export { FakeGateway, type FakeGatewayOptions, type GatewayAnswer, type GatewayCall } from './fake-gateway.js';
export { RecordedEvents } from './recorded-events.js';
