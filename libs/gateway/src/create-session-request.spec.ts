import { importServerKey, openJwe } from '#libs/jwe';
import { createSessionAddress, createSessionRequest, target } from './create-session-request.js';
import { aMerchantGateway, aParty, SERVICE_CODE, serverPublicOf, type TestParty } from './gateway-fixtures.js';

describe('the create-session request', () => {
  let merchant: TestParty;
  let bank: TestParty;
  beforeAll(async () => {
    [merchant, bank] = await Promise.all([aParty(), aParty()]);
  });

  it('sends the serviceCode and nothing else by default', async () => {
    const request = await createSessionRequest(aMerchantGateway(merchant));
    expect(JSON.parse(request.body)).toEqual({ serviceCode: SERVICE_CODE });
    expect(request.path).toBe('/api-gateway/authorize_virtual_device');
    expect(request.headers).toMatchObject({
      'x-api_version': '1',
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    });
  });

  it.each(['body', 'header'] as const)('attaches the session request data as a JWE in a %s', async (attach) => {
    const requestData = { attach, name: 'session-data', recipient: await importServerKey(bank.publicJwk) };
    const request = await createSessionRequest(aMerchantGateway(merchant, { requestData }));
    const body = JSON.parse(request.body) as Record<string, string>;
    const jwe = (attach === 'body' ? body : request.headers)['session-data'] ?? '';
    const { plaintext } = await openJwe(jwe, [bank.key]);
    expect(JSON.parse(new TextDecoder().decode(plaintext))).toEqual({
      deviceType: 'ECOM_MERCHANT_SERVICE_DEVICE',
      clientPublicKey: serverPublicOf(merchant),
    });
    expect(body['serviceCode']).toBe(SERVICE_CODE);
    expect('session-data' in (attach === 'body' ? request.headers : body)).toBe(false);
  });

  it('names the newest client key', async () => {
    const older = await aParty();
    const requestData = { attach: 'body' as const, name: 'jwe', recipient: await importServerKey(bank.publicJwk) };
    const gateway = aMerchantGateway(merchant, { requestData, clientKeys: [merchant.key, older.key] });
    const { jwe } = JSON.parse((await createSessionRequest(gateway)).body) as { jwe: string };
    const { plaintext } = await openJwe(jwe, [bank.key]);
    expect(JSON.parse(new TextDecoder().decode(plaintext))).toMatchObject({
      clientPublicKey: { x: merchant.publicJwk['x'] },
    });
  });

  it('lets no attached name take the place of what the interface demands', async () => {
    const recipient = await importServerKey(bank.publicJwk);
    const inBody = { requestData: { attach: 'body' as const, name: 'serviceCode', recipient } };
    const inHeader = { requestData: { attach: 'header' as const, name: 'x-api_version', recipient } };
    const body = (await createSessionRequest(aMerchantGateway(merchant, inBody))).body;
    expect(JSON.parse(body)).toEqual({ serviceCode: SERVICE_CODE });
    const { headers } = await createSessionRequest(aMerchantGateway(merchant, inHeader));
    expect(headers['x-api_version']).toBe('1');
  });

  it.each([
    ['https://gw.example', '/x'],
    ['https://gw.example/', '/x'],
    ['https://gw.example/acquiring', '/acquiring/x'],
    ['https://gw.example/acquiring/?a=b#c', '/acquiring/x'],
  ])('goes to a path under %s', (baseUrl, path) => {
    expect(target(new URL(baseUrl), '/x')).toEqual({ origin: 'https://gw.example', path });
  });
});

describe('the address of create calls', () => {
  it.each([
    ['https://bank.example', 'https://bank.example/api-gateway/authorize_virtual_device'],
    ['https://bank.example:8443/', 'https://bank.example:8443/api-gateway/authorize_virtual_device'],
    ['https://bank.example/a/b//', 'https://bank.example/a/b/api-gateway/authorize_virtual_device'],
    ['https://bank.example//other.example', 'https://bank.example//other.example/api-gateway/authorize_virtual_device'],
  ])('is below baseUrl, and never at another host: %s', (baseUrl, address) => {
    expect(createSessionAddress({ baseUrl: new URL(baseUrl) }).href).toBe(address);
  });
});
