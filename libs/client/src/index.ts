// For code in this repository; users of the published package get entries/.
export type * from './entries/main.js';
export {
  BrokerUnavailable,
  CallAborted,
  deadSessionCode,
  Forbidden,
  ProtocolError,
  SessionBroker,
  SessionBrokerError,
  SessionRejected,
  Unauthenticated,
} from './entries/main.js';
export { fileToken } from './entries/file-token.js';
export { readEndMs, readSession } from './session.js';
export { SseParser } from './sse-parser.js';
