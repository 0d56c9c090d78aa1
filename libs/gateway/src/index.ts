export { CipherHelpers } from './cipher-helpers.js';
export { echoedAddress, type EchoedAddress } from './echoed-address.js';
export { type EntryPoint, entryPointOf, peerOf } from './entry-point.js';
export { GatewayConnections } from './gateway-connections.js';
export type { GatewayPlace, MerchantGateway } from './merchant-gateway.js';
export { askPlainly, lookUp, type PlainAnswer, reach, shakeHands } from './gateway-reach.js';
export { inspectSession, type SessionInspection } from './session-inspection.js';
export { UndiciSessionGateway } from './undici-session-gateway.js';
export { presentedChain, type PresentedCertificate } from './presented-chain.js';
