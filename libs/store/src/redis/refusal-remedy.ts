import { remedyOfHandshake } from './tls-alert.js';

/** The certificate is from nobody who is trusted, as OpenSSL says it. */
const OF_A_STRANGER = /^(?:SELF_SIGNED_|DEPTH_ZERO_SELF_SIGNED_|UNABLE_TO_|CERT_SIGNATURE_FAILURE$)/;
const TRUST = 'store.tls.caFile has to name the authority that issued it; see docs/redis.md';

/** What mends a connection that one side refuses for its certificate; undefined for every other reason of the store. */
export function remedyOfRefusal(reason: string): string | undefined {
  return remedyOfHandshake(reason) ?? (OF_A_STRANGER.test(reason) ? TRUST : undefined);
}
