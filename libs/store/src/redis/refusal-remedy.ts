import { remedyOfHandshake } from './tls-alert.js';

/** OpenSSL's codes for a certificate from an untrusted issuer. */
const OF_A_STRANGER = /^(?:SELF_SIGNED_|DEPTH_ZERO_SELF_SIGNED_|UNABLE_TO_|CERT_SIGNATURE_FAILURE$)/;
const TRUST = 'store.tls.caFile has to name the authority that issued it; see docs/redis.md';

/**
 * How to fix a connection that one side refuses because of its certificate; undefined for every other reason of the
 * store.
 */
export function remedyOfRefusal(reason: string): string | undefined {
  return remedyOfHandshake(reason) ?? (OF_A_STRANGER.test(reason) ? TRUST : undefined);
}
