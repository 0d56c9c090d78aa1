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
