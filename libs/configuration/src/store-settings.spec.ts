import { type StoreConfiguration, storeConfiguration } from './broker-configuration.js';
import { faults, parse, type Raw } from './configuration-fixtures.js';

/** Where the store is, as if each of its files held its own name. */
const parseStore = (store: Raw): StoreConfiguration => storeConfiguration(parse({ store }).store);
const faultsOf = (store: Raw): string[] => faults({ store });

describe('the settings of the store', () => {
  it('name a single Redis by its URL', () => {
    expect(parseStore({ type: 'redis', url: 'rediss://user:secret@redis.example:6380/2', keyPrefix: 'p' })).toEqual({
      type: 'redis',
      keyPrefix: 'p',
      place: { kind: 'url', url: 'rediss://user:secret@redis.example:6380/2' },
    });
  });

  it('name sentinels and the primary that they watch', () => {
    const sentinels = ['sentinel-0:26379', '[::1]:26380'];
    const store = { type: 'redis', sentinels, name: 'primary', username: 'broker', passwordFile: 'password' };
    expect(parseStore(store)).toEqual({
      type: 'redis',
      keyPrefix: 'session-broker',
      place: {
        kind: 'sentinel',
        sentinels: [
          { host: 'sentinel-0', port: 26_379 },
          { host: '::1', port: 26_380 },
        ],
        name: 'primary',
      },
      username: 'broker',
      passwordFile: 'password',
    });
  });

  it('name some nodes of a cluster, with TLS', () => {
    const store = { type: 'redis', cluster: ['10.0.0.1:7000'], tls: { caFile: 'ca.pem', servername: 'redis.example' } };
    expect(parseStore(store)).toMatchObject({
      place: { kind: 'cluster', nodes: [{ host: '10.0.0.1', port: 7_000 }] },
      tls: { caFile: 'ca.pem', servername: 'redis.example' },
    });
  });

  it.each<[string, Raw, string]>([
    ['Redis without an address', { type: 'redis' }, 'store.url is missing'],
    [
      'two addresses',
      { type: 'redis', url: 'redis://a', cluster: ['b:7000'] },
      'store.cluster is given as well as store.url; give only one of url, sentinels and cluster',
    ],
    ['an address in memory', { url: 'redis://a' }, 'store.url has no effect with store.type memory'],
    ['TLS in memory', { tls: {} }, 'store.tls has no effect with store.type memory'],
    ['another protocol', { type: 'redis', url: 'http://a' }, 'store.url must be a URL such as redis://host:6379/0'],
    ['a query in the URL', { type: 'redis', url: 'redis://a?db=1' }, 'store.url must be a URL such as'],
    ['a path in the URL', { type: 'redis', url: 'redis://a/one' }, 'store.url must be a URL such as'],
    ['a node without port', { type: 'redis', cluster: ['a'] }, 'store.cluster[0] must be host:port'],
    ['an invalid port', { type: 'redis', cluster: ['a:0'] }, 'store.cluster[0] must be host:port'],
    ['sentinels without a name', { type: 'redis', sentinels: ['a:1'] }, 'store.name is missing'],
    ['a user without password', { type: 'redis', url: 'redis://a', username: 'x' }, 'store.passwordFile is missing'],
    [
      'credentials in two places',
      { type: 'redis', url: 'redis://u:p@a', passwordFile: 'x' },
      'store.url has a user or password as well as username or passwordFile',
    ],
    ['TLS on a plain URL', { type: 'redis', url: 'redis://a', tls: {} }, 'store.tls has no effect on a redis: URL'],
    [
      'a certificate without its key',
      { type: 'redis', url: 'rediss://a', tls: { certFile: 'x' } },
      'store.tls.keyFile is missing',
    ],
  ])('refuse %s', (_name, store, problem) => {
    expect(faultsOf(store)).toEqual([expect.stringContaining(problem)]);
  });

  it('never quote a password in a fault', () => {
    const found = faultsOf({ type: 'redis', url: 'redis://user:canary@host/not-a-number', name: 'x' });
    expect(found.length).toBeGreaterThan(0);
    expect(found.join()).not.toContain('canary');
  });
});
