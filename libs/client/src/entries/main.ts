export { SessionBroker } from '../session-broker.js';
export type { CallOptions, LookedUp } from '../session-broker.js';
export type { GatewayRequest } from '../gateway-call.js';
export type { OpenedNotification, ReceivedNotification } from '../opening.js';
export type { GatewayOptions, SessionBrokerOptions } from '../options.js';
export type { ServerPublicKey, Session } from '../session.js';
export type { TokenFunction, TokenRequest, TokenSource } from '../token-source.js';
export type { ClientEvent, ClientEventListener } from '../client-event.js';
export type { BodyReader, Fetch, FetchAnswer, FetchInit } from '../fetch.js';
export type { Time, Timer, TimerOptions } from '../time.js';
export { answerLost, deadSessionCode } from '../gateway-call.js';
export {
  AnswerLost,
  AnswerUnopened,
  BrokerUnavailable,
  CallAborted,
  ClientClosed,
  Forbidden,
  GatewayRefused,
  GatewayUnreachable,
  InvalidInput,
  ProtocolError,
  type Rejection,
  RequestRefused,
  SessionBrokerError,
  SessionRejected,
  Unauthenticated,
} from '../errors.js';
