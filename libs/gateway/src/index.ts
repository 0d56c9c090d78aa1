export { CipherHelpers, type CipherHelperOptions, type DecryptCall, type EncryptCall } from './cipher-helpers.js';
export { GatewayConnections, type ConnectionSettings } from './gateway-connections.js';
export type { MerchantGateway, RequestData, TlsTrust } from './merchant-gateway.js';
export { pinOf } from './tls-trust.js';
export { UndiciSessionGateway, type SessionGatewayOptions } from './undici-session-gateway.js';
