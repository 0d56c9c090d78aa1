export { aBudget, aClaim, aRecordedFailure, aServerPublicKey, aSession } from './builders.js';
export { FakeClock } from './fake-clock.js';
