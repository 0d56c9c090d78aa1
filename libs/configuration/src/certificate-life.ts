import { X509Certificate } from 'node:crypto';
import { type Instant, instantFromEpochMs } from '#libs/clock';

/** When a certificate is valid. */
export interface CertificateLife {
  readonly startsAt: Instant;
  readonly endsAt: Instant;
}

/** Whether a certificate has expired, is valid, or is not valid yet. */
export type CertificateState = 'expired' | 'valid' | 'early';

export function certificateState({ startsAt, endsAt }: CertificateLife, now: Instant): CertificateState {
  if (endsAt <= now) return 'expired';
  return startsAt > now ? 'early' : 'valid';
}

/**
 * @param pem its first certificate counts: a server's own precedes those of its authorities (RFC 8446 section 4.4.2)
 */
export function certificateLife(pem: string): CertificateLife {
  const { validFromDate, validToDate } = new X509Certificate(pem);
  return {
    startsAt: instantFromEpochMs(validFromDate.getTime()),
    endsAt: instantFromEpochMs(validToDate.getTime()),
  };
}
