// For code in this repository; users of the published package get entries/.
export type * from './entries/main.js';
export {
  BrokerUnavailable,
  CallAborted,
  Forbidden,
  ProtocolError,
  SessionBroker,
  SessionBrokerError,
  SessionRejected,
  Unauthenticated,
} from './entries/main.js';
export { fileToken } from './entries/file-token.js';
export { deadSessionCode } from './payment-outcome.js';
export { readLeft, readSession } from './session.js';
export { SseParser } from './sse-parser.js';
