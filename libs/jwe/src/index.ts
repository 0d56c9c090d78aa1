export { openAtRest, sealAtRest, type AtRestBinding } from './at-rest.js';
export type { ClientKey } from './client-key.js';
export { generateClientKey, type GeneratedClientKey } from './generate-client-key.js';
export { importClientKey, importPaymentKey, importServerKey } from './import-key.js';
export { openJwe, type OpenedJwe, type OpenOptions } from './open-jwe.js';
export { DEFAULT_MAX_JWE_BYTES, DEFAULT_MAX_PLAINTEXT_BYTES } from './profile.js';
export { thumbprintOf, type PublicJwk } from './public-jwk.js';
export type { RecipientKey } from './recipient-key.js';
export { sealJwe, type SealOptions } from './seal-jwe.js';
