import { X509Certificate } from 'node:crypto';

/** @returns the certificates of a PEM file, one by one, each with its lines as they are in the file */
export function pemCertificates(pem: string): readonly string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
}

/** @param pem one certificate */
export function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    // OpenSSL's own reasons do not help here: what does not parse is damaged.
    return false;
  }
}
