/** TLS 1.3 first (RFC 8446 appendix B.4), then what RFC 9325 section 4.2 recommends for TLS 1.2: ECDHE and an AEAD. */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
];

/**
 * The terms of every TLS connection that we accept or make, set explicitly: Node.js would also accept CBC modes, and
 * RSA key exchange, which lets anyone who later gets the certificate's key read what was recorded before.
 */
export const TLS_TERMS = { minVersion: 'TLSv1.2', ciphers: CIPHERS.join(':') } as const;
