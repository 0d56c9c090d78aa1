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
