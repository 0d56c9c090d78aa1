export { BrokerError, describeError, type BrokerErrorOptions } from './broker-error.js';
export { errorCodes, type ErrorCode, type ErrorEntry, type Fault } from './error-codes.js';
