import { importServerKey, openJwe } from '#libs/jwe';
import { createSessionAddress, createSessionRequest } from './create-session-request.js';
import { aMerchantGateway, aParty, SERVICE_CODE, serverPublicOf, type TestParty } from './gateway-fixtures.js';

describe('the create-session request', () => {
  let merchant: TestParty;
  let bank: TestParty;
  beforeAll(async () => {
    [merchant, bank] = await Promise.all([aParty(), aParty()]);
  });

  it.each(['body', 'header'] as const)(
    'attaches the session request data, with the newest client key, as a JWE in a %s',
    async (attach) => {
      const requestData = { attach, name: 'session-data', recipient: await importServerKey(bank.publicJwk) };
      const clientKeys = [merchant.key, bank.key];
      const request = await createSessionRequest(aMerchantGateway(merchant, { requestData, clientKeys }));
      const body = JSON.parse(request.body) as Record<string, string>;
      const jwe = (attach === 'body' ? body : request.headers)['session-data'] ?? '';
      const { plaintext } = await openJwe(jwe, [bank.key]);
      expect(JSON.parse(new TextDecoder().decode(plaintext))).toEqual({
        deviceType: 'ECOM_MERCHANT_SERVICE_DEVICE',
        clientPublicKey: serverPublicOf(merchant),
      });
      expect(body['serviceCode']).toBe(SERVICE_CODE);
      expect('session-data' in (attach === 'body' ? request.headers : body)).toBe(false);
    },
  );

  it('lets no attached name take the place of what the interface demands', async () => {
    const recipient = await importServerKey(bank.publicJwk);
    const inBody = { requestData: { attach: 'body' as const, name: 'serviceCode', recipient } };
    const inHeader = { requestData: { attach: 'header' as const, name: 'x-api_version', recipient } };
    const body = (await createSessionRequest(aMerchantGateway(merchant, inBody))).body;
    expect(JSON.parse(body)).toEqual({ serviceCode: SERVICE_CODE });
    const { headers } = await createSessionRequest(aMerchantGateway(merchant, inHeader));
    expect(headers['x-api_version']).toBe('1');
  });
});

describe('the address of create calls', () => {
  it.each([
    ['https://bank.example', 'https://bank.example/api-gateway/authorize_virtual_device'],
    ['https://bank.example:8443/?a=b#c', 'https://bank.example:8443/api-gateway/authorize_virtual_device'],
    ['https://bank.example/a/b//', 'https://bank.example/a/b/api-gateway/authorize_virtual_device'],
    ['https://bank.example//other.example', 'https://bank.example//other.example/api-gateway/authorize_virtual_device'],
  ])('is below baseUrl, and never at another host: %s', (baseUrl, address) => {
    expect(createSessionAddress({ baseUrl: new URL(baseUrl) }).href).toBe(address);
  });
});
