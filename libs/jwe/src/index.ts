export { openAtRest, sealAtRest } from './at-rest.js';
export type { ClientKey } from './client-key.js';
export { generateClientKey, type GeneratedClientKey } from './generate-client-key.js';
export { importClientKey, importPaymentKey, importServerKey } from './import-key.js';
export { inThisThread, JweThread, type JweWork } from './jwe-thread.js';
export { openJwe, type OpenedJwe } from './open-jwe.js';
export { thumbprintOf, type PublicJwk } from './public-jwk.js';
export type { RecipientKey } from './recipient-key.js';
export { sealJwe } from './seal-jwe.js';
