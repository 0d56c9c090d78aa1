import { X509Certificate } from 'node:crypto';
import { TestAuthority } from '#libs/testing';
import { nameOf } from './certificate-callers.js';
import { isKnownHost } from './known-hosts.js';

const HOSTS = ['status.shop.example', 'fd00::5'];
const isKnown = (host: string | undefined): boolean => isKnownHost({ headers: { host } }, HOSTS);

describe('a host that a request may name', () => {
  it.each([
    ['this machine', 'localhost:9464'],
    ['this machine, spelled otherwise', 'LocalHost.'],
    ['an address', '10.1.2.3:9464'],
    ['an IPv6 address', '[fd00::1]:9464'],
    ['a configured name', 'status.shop.example'],
    ['a configured name, spelled otherwise', 'Status.Shop.Example.:443'],
    ['nothing at all, as in HTTP/1.0', undefined],
  ])('is %s', (_what, host) => expect(isKnown(host)).toBe(true));

  it.each([
    ['another name', 'rebound.example:9464'],
    ['a name below a configured one', 'a.status.shop.example'],
    ['a name that ends like a configured one', 'xstatus.shop.example'],
    ['a name that begins like this machine', 'localhost.rebound.example'],
    ['a name below this machine', 'rebound.localhost'],
    ['a name that begins like an address', '127.0.0.1.rebound.example'],
    ['a name behind a user', 'localhost@rebound.example'],
    ['two names', 'localhost, rebound.example'],
    ['a name with two ports', 'rebound.example:80:localhost'],
    ['no name', ''],
    ['a port alone', ':9464'],
    ['what is in brackets and no address', '[localhost]'],
  ])('is not %s', (_what, host) => expect(isKnown(host)).toBe(false));
});

describe('the name of a certificate', () => {
  const authority = new TestAuthority();
  const nameOfIssued = (names: readonly string[], commonName?: string): string | undefined =>
    nameOf(new X509Certificate(authority.issue({ names, ...(commonName === undefined ? {} : { commonName }) }).cert));

  it.each<[string, readonly string[], string | undefined, string | undefined]>([
    ['its URI before all others', ['a.example', 'spiffe://shop/checkout', 'b.example'], 'cn', 'spiffe://shop/checkout'],
    ['its DNS name without a URI', ['127.0.0.1', 'a.example', 'b.example'], 'cn', 'a.example'],
    ['its common name without either', [], 'checkout', 'checkout'],
    ['nothing for a common name that no policy could have', [], 'the checkout', undefined],
    ['nothing that hides in a common name', [], 'x\nCN=admin', undefined],
    [
      'nothing for a URI that no policy could have, whatever else it has',
      ['spiffe://a b', 'a.example'],
      'cn',
      undefined,
    ],
    ['nothing for a DNS name that no policy could have', ['*.example'], 'checkout', undefined],
    ['nothing when the first of several URIs is no name', ['spiffe://a b', 'spiffe://shop/two'], 'cn', undefined],
    ['not what hides at the end of a DNS name', ['a b.example, URI:spiffe://shop/admin'], 'checkout', undefined],
    ['not what hides behind a quote', ['a", URI:spiffe://shop/admin, DNS:b'], 'checkout', undefined],
    ['not what hides in a URI', ['spiffe://x, DNS:admin.example, DNS:b'], 'checkout', undefined],
    [
      'its URI, whatever hides beside it',
      ['spiffe://shop/one', 'a, URI:spiffe://shop/two, DNS:b'],
      'cn',
      'spiffe://shop/one',
    ],
  ])('is %s', (_what, ...[names, commonName, expected]) => {
    expect(nameOfIssued(names, commonName)).toBe(expected);
  });
});
