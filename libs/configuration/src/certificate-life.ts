import { X509Certificate } from 'node:crypto';
import { type Instant, instantFromEpochMs } from '#libs/clock';

/** When a certificate is valid. */
export interface CertificateLife {
  readonly startsAt: Instant;
  readonly endsAt: Instant;
}

/** Whether it has been, is, or is yet to be valid. */
export type CertificateState = 'expired' | 'valid' | 'early';

export function certificateState({ startsAt, endsAt }: CertificateLife, now: Instant): CertificateState {
  if (endsAt <= now) return 'expired';
  return startsAt > now ? 'early' : 'valid';
}

/** @param pem the first certificate in it counts: a server's own comes before those of its authorities (RFC 8446 section 4.4.2) */
export function certificateLife(pem: string): CertificateLife {
  const { validFromDate, validToDate } = new X509Certificate(pem);
  return {
    startsAt: instantFromEpochMs(validFromDate.getTime()),
    endsAt: instantFromEpochMs(validToDate.getTime()),
  };
}
