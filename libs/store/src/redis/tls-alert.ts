/**
 * OpenSSL's codes for alerts sent by the other side. None of them is about that side's certificate: either ours is
 * missing or not accepted, or the two sides do not agree on TLS itself.
 */
const ALERT = /^ERR_SSL_(?:TLSV1|TLSV13|SSLV3|SSL\/TLS)_ALERT_([A-Z_]{1,40})$/;

const NOT_TAKEN = 'Redis does not take the certificate of the broker';
const COMPARE = 'compare store.tls.certFile with the authority that Redis trusts (its tls-ca-cert-file)';

interface Refusal {
  readonly reason: string;
  readonly remedy: string;
}

const handshakeRefused: Refusal = {
  reason: 'Redis refuses the TLS handshake',
  // With TLS 1.2 the alert is the same for a missing certificate and for ciphers that the other side does not have.
  remedy:
    'without store.tls.certFile and store.tls.keyFile it most likely asks for a certificate of the broker; with them, compare versions and ciphers of TLS',
};

const refusals: Readonly<Record<string, Refusal>> = {
  CERTIFICATE_REQUIRED: {
    reason: 'Redis asks for a certificate of the broker',
    remedy: 'give store.tls.certFile and store.tls.keyFile',
  },
  UNKNOWN_CA: { reason: `${NOT_TAKEN}: it does not know its authority`, remedy: COMPARE },
  CERTIFICATE_EXPIRED: { reason: `${NOT_TAKEN}: it has expired`, remedy: 'renew store.tls.certFile' },
  CERTIFICATE_REVOKED: { reason: `${NOT_TAKEN}: it has been revoked`, remedy: 'replace store.tls.certFile' },
  ...Object.fromEntries(
    ['BAD_CERTIFICATE', 'CERTIFICATE_UNKNOWN', 'UNSUPPORTED_CERTIFICATE', 'ACCESS_DENIED', 'DECRYPT_ERROR'].map(
      (alert) => [alert, { reason: NOT_TAKEN, remedy: COMPARE }],
    ),
  ),
  PROTOCOL_VERSION: {
    reason: 'Redis speaks neither TLS 1.2 nor TLS 1.3',
    remedy: 'allow one of them on the server (its tls-protocols)',
  },
};

/**
 * Why a server ended the handshake, from the code of an error: one of a few constant texts; undefined if it sent no
 * alert.
 */
export function refusedHandshake(code: string): string | undefined {
  const alert = ALERT.exec(code)?.[1];
  return alert === undefined ? undefined : (refusals[alert] ?? handshakeRefused).reason;
}

const remedies: ReadonlyMap<string, string> = new Map(
  [handshakeRefused, ...Object.values(refusals)].map(({ reason, remedy }) => [reason, remedy]),
);

export const isRefusedHandshake = (reason: string): boolean => remedies.has(reason);

/** How to fix a handshake that was refused for that reason; undefined for every other reason of the store. */
export const remedyOfHandshake = (reason: string): string | undefined => remedies.get(reason);
