export { BrokerError, describeError } from './broker-error.js';
export { errorCodes, type ErrorCode, type Fault } from './error-codes.js';
