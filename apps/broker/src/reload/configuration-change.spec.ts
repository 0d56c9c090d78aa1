import type { BrokerConfiguration } from '#libs/configuration';
import { someSettings } from '#libs/testing';
import { authoritiesShrank, calledOtherwise, changeBetween, withFixedSettings } from './configuration-change.js';

type Merchant = BrokerConfiguration['merchants'][number];

const shop = {
  id: 'shop',
  required: true,
  serviceCode: '137d9304-0368-11ed-b939-0242ac120002',
  clientKeys: [{ thumbprint: 'one' }],
  gateway: { baseUrl: new URL('https://gateway.example'), timeoutMs: 5_000 },
  session: someSettings(),
} as unknown as Merchant;

const of = (...merchants: readonly Merchant[]): BrokerConfiguration =>
  ({ http: {}, auth: {}, audit: {}, pkcs11: {}, reload: {}, log: {}, merchants }) as unknown as BrokerConfiguration;

describe('what is told of a merchant that has changed', () => {
  const told = (change: object): readonly string[] =>
    changeBetween(of(shop), of({ ...shop, ...change })).ofMerchants ?? [];

  it.each<[what: string, change: object, told: string]>([
    ['names each setting, and no value', { serviceCode: 'other', required: false }, 'shop (required, serviceCode)'],
    ['names keys by their setting', { clientKeys: [{ thumbprint: 'two' }] }, 'shop (clientKeyFiles)'],
    [
      'names the setting of a section as it is written',
      { gateway: { ...shop.gateway, timeoutMs: 1 }, session: someSettings({ longestLifetimeMs: 3_600_000 }) },
      'shop (gateway.timeout, session.longestLifetime)',
    ],
    [
      'names a setting that stands elsewhere',
      { session: someSettings({ gatewayTimeoutMs: 1 }) },
      'shop (gateway.timeout)',
    ],
  ])('%s', (_what, change, expected) => {
    expect(told(change)).toEqual([expected]);
  });

  it('is nothing where nothing has changed', () => {
    expect(told({})).toEqual([]);
  });
});

describe('the merchants whose create calls are made differently', () => {
  const table: Record<string, Partial<Merchant>> = {
    'another serviceCode': { serviceCode: '137d9304-0368-11ed-b939-0242ac120004' },
    'another client key': { clientKeys: [{ thumbprint: 'two' }] as unknown as Merchant['clientKeys'] },
    'another setting of its sessions': { session: someSettings({ fallbackLifetimeMs: 60_000 }) },
  };

  it.each(Object.entries(table))('are those with %s', (_name, change) => {
    expect(calledOtherwise(of(shop), of({ ...shop, ...change }))).toEqual(['shop']);
  });

  it('are not those for which readiness alone changes, which is a change all the same', () => {
    const next = of({ ...shop, required: false });
    expect(calledOtherwise(of(shop), next)).toEqual([]);
    expect(changeBetween(of(shop), next).changed).toEqual(['shop']);
  });
});

const TLS = { cert: 'cert', key: 'key' };

type Section = 'http' | 'auth' | 'audit' | 'store' | 'management' | 'log';

function configuration(changes: Partial<Record<Section, object>>): BrokerConfiguration {
  const parts = {
    http: { host: '0.0.0.0', port: 8_080, docs: true, maxWatchers: 10, ...changes.http },
    auth: { disabled: false, mtls: false, tokens: [], policies: [], ...changes.auth },
    audit: { destination: 'stdout', readEvery: 10, ...changes.audit },
    store: { type: 'memory', keyPrefix: 'a', ...changes.store },
    management: { host: '127.0.0.1', port: 9_464, ...changes.management },
    log: { level: 'info', ...changes.log },
  };
  return parts as unknown as BrokerConfiguration;
}

describe('settings that are fixed at the start', () => {
  it('stay as they are, and are named as waiting for the next start', () => {
    const start = configuration({});
    const { configuration: next, awaitingRestart } = withFixedSettings(
      start,
      configuration({
        http: { host: '127.0.0.1', port: 1, docs: false },
        auth: { disabled: true, mtls: true },
        audit: { destination: 'none' },
        store: { keyPrefix: 'b' },
        management: { port: 2 },
      }),
    );
    expect(next).toEqual(start);
    expect(awaitingRestart).toEqual([
      'management',
      'store',
      'http.host',
      'http.port',
      'http.docs',
      'auth.disabled',
      'auth.mtls',
      'audit.destination',
    ]);
  });

  it('do not hold up the others', () => {
    const others = { http: { maxWatchers: 11 }, audit: { readEvery: 11 }, log: { level: 'debug' } };
    const { configuration: next, awaitingRestart } = withFixedSettings(configuration({}), configuration(others));
    expect(next).toEqual(configuration(others));
    expect(awaitingRestart).toEqual([]);
  });

  it.each([
    { what: 'another certificate', before: TLS, after: { ...TLS, cert: 'next' }, expected: { ...TLS, cert: 'next' } },
    { what: 'no TLS any more', before: TLS, after: undefined, expected: TLS, waits: true },
    { what: 'TLS from now on', before: undefined, after: TLS, expected: undefined, waits: true },
    { what: 'client certificates', before: TLS, after: { ...TLS, clientCa: 'ca' }, expected: TLS, waits: true },
  ])('with $what: a certificate changes, what the port speaks does not', ({ before, after, expected, waits }) => {
    const { configuration: next, awaitingRestart } = withFixedSettings(
      configuration({ http: before === undefined ? {} : { tls: before } }),
      configuration({ http: after === undefined ? {} : { tls: after } }),
    );
    expect(next.http.tls).toEqual(expected);
    expect(awaitingRestart).toEqual(waits === true ? ['http.tls'] : []);
  });
});

const ca = (name: string): string => `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----\n`;
const trusting = (clientCa?: string): BrokerConfiguration =>
  ({ http: clientCa === undefined ? {} : { tls: { clientCa } } }) as BrokerConfiguration;

describe('the authorities of client certificates', () => {
  it.each([
    { what: 'one is gone', before: ca('a') + ca('b'), after: ca('b'), expected: true },
    { what: 'another has taken its place', before: ca('a'), after: ca('b'), expected: true },
    { what: 'all are gone', before: ca('a'), after: undefined, expected: true },
    { what: 'one has come', before: ca('a'), after: ca('b') + ca('a'), expected: false },
    { what: 'there were none', before: undefined, after: ca('a'), expected: false },
  ])('are fewer, or not, when $what', ({ before, after, expected }) => {
    expect(authoritiesShrank(trusting(before), trusting(after))).toBe(expected);
  });
});
