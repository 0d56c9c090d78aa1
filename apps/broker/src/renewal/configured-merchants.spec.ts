import type { BrokerConfiguration } from '#libs/configuration';
import type { ClientKey } from '#libs/jwe';
import type { Session } from '#libs/session';
import { aSession, FakeClock, someSettings } from '#libs/testing';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { ConfiguredMerchants } from './configured-merchants.js';
import { RetiredKeys } from './retired-keys.js';

const at = (id: string, baseUrl: string) => ({
  id,
  session: someSettings(),
  gateway: { baseUrl: new URL(baseUrl) },
  clientKeys: [`${id}-newest`, `${id}-older`].map((thumbprint) => ({ thumbprint })),
});

describe('the configured merchants', () => {
  const merchants = [
    at('shop', 'https://gateway.example/acquiring'),
    at('cafe', 'https://gateway.example:443/other'),
    at('kiosk', 'https://gateway.example:8443'),
  ];
  const configuration = new ConfigurationInForce({ merchants } as unknown as BrokerConfiguration);
  const configured = new ConfiguredMerchants(configuration, { of: () => [] });

  it('share a gateway when they share its origin, whatever the path', () => {
    expect(configured.gatewayIdOf('shop')).toBe('https://gateway.example');
    expect(configured.gatewayIdOf('cafe')).toBe(configured.gatewayIdOf('shop'));
    expect(configured.gatewayIdOf('kiosk')).not.toBe(configured.gatewayIdOf('shop'));
  });

  it('are asked for with the first of their keys', () => {
    expect([configured.newestKeyOf('kiosk'), configured.newestKeyOf('other')]).toEqual(['kiosk-newest', undefined]);
  });
});

const key = (thumbprint: string): ClientKey => ({ thumbprint }) as ClientKey;
const GRACE_MS = 15_000;

describe('keys that are no longer configured', () => {
  let clock: FakeClock;
  let session: Session | undefined;
  let retired: RetiredKeys;

  beforeEach(() => {
    clock = new FakeClock();
    session = undefined;
    retired = new RetiredKeys(clock, () => session);
  });

  const thumbprints = (): string[] => retired.of('shop').map(({ thumbprint }) => thumbprint);

  it('are there while an attempt may be under way, and no longer', async () => {
    retired.retire('shop', [key('a')], GRACE_MS);
    await clock.advance(GRACE_MS - 1);
    expect(thumbprints()).toEqual(['a']);
    await clock.advance(1);
    expect(thumbprints()).toEqual([]);
  });

  it('are there as long as the session that was made with them, which is the last one retired first', async () => {
    session = aSession({ clientKeyThumbprint: 'a' });
    retired.retire('shop', [key('a')], GRACE_MS);
    retired.retire('shop', [key('b')], GRACE_MS);
    expect(thumbprints()).toEqual(['b', 'a']);
    await clock.advance(500_000);
    expect(thumbprints()).toEqual(['a']);
    session = aSession({ clientKeyThumbprint: 'c' });
    expect(thumbprints()).toEqual([]);
  });

  it('are let go from memory once they are not needed', async () => {
    session = aSession({ clientKeyThumbprint: 'a' });
    retired.retire('shop', [key('a'), key('b')], GRACE_MS);
    await clock.advance(60_000);
    expect(retired.size).toBe(1);
    session = undefined;
    await clock.advance(60_000);
    expect(retired.size).toBe(0);
    expect(clock.pendingTasks).toBe(0);
  });

  it('belong to one merchant only, and are gone after the end', () => {
    retired.retire('shop', [key('a')], GRACE_MS);
    expect(retired.of('other')).toEqual([]);
    retired.close();
    expect([retired.size, clock.pendingTasks]).toEqual([0, 0]);
  });
});
