/**
 * The one profile that is spoken (interface description, "Client key" and "Create a technical session"): EC keys on
 * P-384, key agreement with key wrapping, AES-256-GCM for the content. Nothing here is a setting: a second accepted
 * algorithm would be an algorithm that an attacker can choose.
 */
export const KEY_TYPE = 'EC';
export const CURVE = 'P-384';
/** The same curve, as the runtime's own functions call it. */
export const NODE_CURVE = 'secp384r1';
export const KEY_USE = 'enc';
export const KEY_MANAGEMENT = 'ECDH-ES+A256KW';
export const CONTENT_ENCRYPTION = 'A256GCM';

/** Octets of a coordinate or private scalar of P-384 (RFC 7518 sections 6.2.1.2 and 6.2.2.1): never fewer. */
export const COORDINATE_BYTES = 48;

/** The longest compact JWE that is opened unless the caller says otherwise. A session takes about 1 KiB. */
export const DEFAULT_MAX_JWE_BYTES = 65_536;

/** The longest plaintext that is sealed unless the caller says otherwise. */
export const DEFAULT_MAX_PLAINTEXT_BYTES = 65_536;
