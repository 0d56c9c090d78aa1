export { BrokerError, describeError } from './broker-error.js';
export { errorCodes, type ErrorCode, type Fault } from './error-codes.js';
export { unavailableReasons, type UnavailableReason } from './unavailable-reasons.js';
