import type { BrokerConfiguration } from '#libs/configuration';
import { someSettings } from '#libs/testing';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { ConfiguredMerchants } from './configured-merchants.js';

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

  it('are those that are configured and no others', () => {
    expect([configured.settingsOf('other'), configured.connectionOf('other')]).toEqual([undefined, undefined]);
  });
});
