// For what lies in this repository; those who install the package have entries/.
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
