/**
 * The only supported profile (interface description, "Client key" and "Create a technical session"): EC keys on P-384,
 * key agreement with key wrapping, AES-256-GCM for the content. Nothing here is a setting: a second accepted algorithm
 * would be one that an attacker can choose.
 */
export const KEY_TYPE = 'EC';
export const CURVE = 'P-384';
/** The same curve, as the runtime's own functions call it. */
export const NODE_CURVE = 'secp384r1';
export const KEY_USE = 'enc';
export const KEY_MANAGEMENT = 'ECDH-ES+A256KW';
export const CONTENT_ENCRYPTION = 'A256GCM';
export const CONTENT_KEY_BYTES = 32;
export const IV_BYTES = 12;

/** Key wrapping and content encryption, as OpenSSL calls them. */
export const WRAP_CIPHER = 'id-aes256-wrap';
export const CONTENT_CIPHER = 'aes-256-gcm';
/** RFC 3394 section 2.2.3.1. */
export const WRAP_IV = Buffer.alloc(8, 0xa6);

/** Octets of a coordinate or private scalar of P-384 (RFC 7518 sections 6.2.1.2 and 6.2.2.1): never fewer. */
export const COORDINATE_BYTES = 48;

/** The longest compact JWE that is opened unless the caller says otherwise. A session takes about 1 KiB. */
export const DEFAULT_MAX_JWE_BYTES = 65_536;

/** The longest plaintext that is sealed unless the caller says otherwise. */
export const DEFAULT_MAX_PLAINTEXT_BYTES = 65_536;
