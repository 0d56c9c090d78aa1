import { TLS_TERMS } from './tls-terms.js';

// Which of them comes first, libs/edge asks as a client.
it('the terms of TLS begin with 1.2, and name ciphers with forward secrecy and authenticated encryption alone', () => {
  expect(TLS_TERMS.minVersion).toBe('TLSv1.2');
  const ciphers = TLS_TERMS.ciphers.split(':');
  const accepted = /^(?:TLS_|ECDHE-(?:ECDSA|RSA)-).*(?:GCM|CHACHA20)/;
  expect(ciphers.filter((cipher) => !accepted.test(cipher))).toEqual([]);
  expect(ciphers.length).toBeGreaterThan(5);
});
