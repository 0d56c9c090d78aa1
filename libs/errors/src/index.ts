export { BrokerError, describeError } from './broker-error.js';
export { errorCodes, type ErrorCode, type Fault } from './error-codes.js';
export { someOf } from './some-of.js';
export { type StoreRefusal, storeRefusal } from './store-refusals.js';
export { unavailableReasons, type UnavailableReason } from './unavailable-reasons.js';
