import { X509Certificate } from 'node:crypto';
import { TestAuthority } from '#libs/testing';
import { nameOf } from './certificate-callers.js';

describe('the name of a certificate', () => {
  const authority = new TestAuthority();
  const nameOfIssued = (names: readonly string[], commonName?: string): string | undefined =>
    nameOf(new X509Certificate(authority.issue({ names, ...(commonName === undefined ? {} : { commonName }) }).cert));

  it.each<[string, readonly string[], string | undefined, string | undefined]>([
    ['its URI before all others', ['a.example', 'spiffe://shop/checkout', 'b.example'], 'cn', 'spiffe://shop/checkout'],
    ['the first of several URIs', ['spiffe://shop/one', 'spiffe://shop/two'], 'cn', 'spiffe://shop/one'],
    ['its DNS name without a URI', ['127.0.0.1', 'a.example', 'b.example'], 'cn', 'a.example'],
    ['its common name without either', [], 'checkout', 'checkout'],
    ['its common name beside an address alone', ['127.0.0.1'], 'checkout', 'checkout'],
    ['nothing for a common name that no policy could have', [], 'the checkout', undefined],
    ['nothing that hides in a common name', [], 'x\nCN=admin', undefined],
    ['not what hides in a DNS name', ['a b.example, URI:spiffe://shop/admin'], 'checkout', 'checkout'],
    ['not what hides in a URI', ['spiffe://x, DNS:admin.example'], 'checkout', 'checkout'],
  ])('is %s', (_what, ...[names, commonName, expected]) => {
    expect(nameOfIssued(names, commonName)).toBe(expected);
  });
});
