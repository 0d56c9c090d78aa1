export type { Dispatcher } from 'undici';
export { type AnswerHeaders, ENCODED, headerOf, isEncoded, listOf } from './answer-headers.js';
export { type ExchangeEnd, exchangeEndOf } from './exchange-end.js';
export { fetchThrough } from './fetch-through.js';
export { hostOf } from './host-of.js';
export { type ConnectionSettings, OutboundConnections } from './outbound-connections.js';
export { portOf } from './port-of.js';
export { speaksTls } from './speaks-tls.js';
export { pinOf, type TlsTrust, trustOptions } from './tls-trust.js';
