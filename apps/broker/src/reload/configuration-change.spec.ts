import type { BrokerConfiguration } from '#libs/configuration';
import { someSettings } from '#libs/testing';
import { calledOtherwise, changeBetween } from './configuration-change.js';

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
  ({ http: {}, auth: {}, audit: {}, reload: {}, log: {}, merchants }) as unknown as BrokerConfiguration;

describe('what is told of a merchant that has changed', () => {
  const told = (change: object): readonly string[] => changeBetween(of(shop), of({ ...shop, ...change })).ofMerchants;

  it.each<[what: string, change: object, told: string]>([
    ['names each setting, and no value', { serviceCode: 'other', required: false }, 'shop (required, serviceCode)'],
    ['names keys by their setting', { clientKeys: [{ thumbprint: 'two' }] }, 'shop (clientKeyFiles)'],
    [
      'names the setting of a section as it is written',
      { gateway: { ...shop.gateway, timeoutMs: 1 }, session: someSettings({ longestLifetimeMs: 3_600_000 }) },
      'shop (gateway.timeout, session.longestLifetime)',
    ],
    [
      'names once what the section of the gateway says of sessions',
      { gateway: { ...shop.gateway, timeoutMs: 1 }, session: someSettings({ gatewayTimeoutMs: 1 }) },
      'shop (gateway.timeout)',
    ],
    [
      'names a setting that stands elsewhere',
      { session: someSettings({ onStoreOutage: 'authorize' }) },
      'shop (store.onStoreOutage)',
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
    'another gateway': { gateway: { ...shop.gateway, baseUrl: new URL('https://other.example') } },
    'another setting of its sessions': { session: someSettings({ fallbackLifetimeMs: 60_000 }) },
  };

  it.each(Object.entries(table))('are those with %s', (_name, change) => {
    expect(calledOtherwise(of(shop), of({ ...shop, ...change }))).toEqual(['shop']);
  });

  it('are not those for which readiness alone changes, which is a change all the same', () => {
    const next = of({ ...shop, required: false });
    expect(calledOtherwise(of(shop), next)).toEqual([]);
    expect(changeBetween(of(shop), next).merchants.changed).toEqual(['shop']);
  });

  it('are neither new nor gone', () => {
    const kiosk = { ...shop, id: 'kiosk' };
    expect(calledOtherwise(of(shop), of(kiosk))).toEqual([]);
  });
});
