export { CipherHelpers, type CipherHelperOptions, type DecryptCall, type EncryptCall } from './cipher-helpers.js';
export { GatewayConnections, type ConnectionSettings } from './gateway-connections.js';
export type { MerchantGateway, RequestData, TlsTrust } from './merchant-gateway.js';
export {
  askPlainly,
  entryPointOf,
  type EntryPoint,
  type Handshake,
  lookUp,
  type PlainAnswer,
  reach,
  shakeHands,
} from './gateway-reach.js';
export { inspectSession, type SessionForm, type SessionInspection } from './session-inspection.js';
export { pinOf } from './tls-trust.js';
export { UndiciSessionGateway, type SessionGatewayOptions } from './undici-session-gateway.js';
