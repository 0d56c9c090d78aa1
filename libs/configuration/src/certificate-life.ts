import { X509Certificate } from 'node:crypto';
import { type Instant, instantFromEpochMs } from '#libs/clock';

/** When a certificate is valid. */
export interface CertificateLife {
  readonly startsAt: Instant;
  readonly endsAt: Instant;
}

/** @param pem the first certificate in it counts: a server's own comes before those of its authorities (RFC 8446 section 4.4.2) */
export function certificateLife(pem: string): CertificateLife {
  const { validFromDate, validToDate } = new X509Certificate(pem);
  return {
    startsAt: instantFromEpochMs(validFromDate.getTime()),
    endsAt: instantFromEpochMs(validToDate.getTime()),
  };
}
