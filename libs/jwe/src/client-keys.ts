import type { PublicJwk } from './public-jwk.js';

/**
 * Custody of one private key: its holder makes shared secrets with it, and is never asked for anything else. An
 * imported file is one, a key in a PKCS#11 token another; the call has the shape of a key service's
 * `DeriveSharedSecret`.
 */
export interface ClientKeys {
  /**
   * ECDH with the private key (SEC 1 section 3.3.1).
   * @param peer a point that has been checked to be on the curve
   * @returns the x coordinate, 48 octets; the caller owns it and erases it
   * @throws BrokerError `client_key_unavailable` when it cannot be asked at the moment
   */
  deriveSharedSecret(peer: PublicJwk): Promise<Uint8Array>;
}
