import { createHash, X509Certificate } from 'node:crypto';
import { checkServerIdentity, type ConnectionOptions, type PeerCertificate } from 'node:tls';
import { TLS_TERMS } from '#libs/tls';

/** What to trust at the other end of a TLS connection. Verification itself is never off. */
export interface TlsTrust {
  /** PEM certificates that replace the built-in authorities; absent: the built-in ones. */
  readonly ca?: string;
  /** `sha256/<base64 of the SHA-256 of the SubjectPublicKeyInfo>` of the server's own key; any one must match. */
  readonly pins: readonly string[];
}

/** The certificate is valid, but its key is not one of those that are pinned. */
export const PIN_MISMATCH = 'ERR_BROKER_PIN_MISMATCH';

type TrustOptions = Pick<ConnectionOptions, 'rejectUnauthorized' | 'minVersion' | 'ciphers' | 'checkServerIdentity'> & {
  readonly ca?: string;
};

/**
 * TLS settings of a connection that we make. A JWE does not authenticate its sender, so TLS alone says who sent a
 * session: nothing here can weaken the verification.
 */
export function trustOptions(trust: TlsTrust): TrustOptions {
  return {
    // Set explicitly: the default would obey NODE_TLS_REJECT_UNAUTHORIZED=0.
    rejectUnauthorized: true,
    ...TLS_TERMS,
    ...(trust.ca === undefined ? {} : { ca: trust.ca }),
    // Runs once the chain has been verified and before the first byte of the request is written.
    checkServerIdentity: (host, certificate) =>
      checkServerIdentity(host, certificate) ?? pinFault(certificate, trust.pins),
  };
}

/**
 * Only the server's own key counts: the peer chooses which further certificates it sends, and Node links them by name
 * without checking the signature, so a pinned key further up would prove nothing.
 */
function pinFault(certificate: PeerCertificate, pins: readonly string[]): Error | undefined {
  if (pins.length === 0 || pins.includes(pinOf(certificate.raw))) return undefined;
  return Object.assign(new Error("the server's key is not one of the pinned ones"), { code: PIN_MISMATCH });
}

/** The pin of a certificate (DER or PEM), in the form of the setting (RFC 7469 section 2.4). */
export function pinOf(certificate: Uint8Array | string): string {
  const spki = new X509Certificate(certificate).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256/${createHash('sha256').update(spki).digest('base64')}`;
}
