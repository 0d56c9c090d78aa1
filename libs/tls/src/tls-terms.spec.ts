import { TLS_TERMS } from './tls-terms.js';

describe('the terms of TLS', () => {
  const ciphers = TLS_TERMS.ciphers.split(':');

  it('name ciphers with forward secrecy and authenticated encryption alone', () => {
    const accepted = /^(?:TLS_|ECDHE-(?:ECDSA|RSA)-).*(?:GCM|CHACHA20)/;
    expect(ciphers.filter((cipher) => !accepted.test(cipher))).toEqual([]);
    expect(ciphers.length).toBeGreaterThan(5);
  });

  it('prefer TLS 1.3, and in each version the longest keys', () => {
    expect(ciphers[0]).toBe('TLS_AES_256_GCM_SHA384');
    const first = ciphers.findIndex((cipher) => cipher.startsWith('ECDHE-'));
    expect(ciphers.slice(first).some((cipher) => cipher.startsWith('TLS_'))).toBe(false);
    expect(ciphers.slice(first, first + 2).every((cipher) => cipher.includes('AES256-GCM'))).toBe(true);
  });

  it('begin with TLS 1.2', () => {
    expect(TLS_TERMS.minVersion).toBe('TLSv1.2');
  });
});
