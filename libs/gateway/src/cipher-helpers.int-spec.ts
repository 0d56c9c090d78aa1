import { text } from 'node:stream/consumers';
import { BrokerError } from '#libs/errors';
import { importServerKey } from '#libs/jwe';
import { FakeClock, LoopbackServer } from '#libs/testing';
import { CipherHelpers } from './cipher-helpers.js';
import { GatewayConnections } from './gateway-connections.js';
import { aMerchantGateway, aParty, type TestParty } from './gateway-fixtures.js';
import type { MerchantGateway } from './merchant-gateway.js';

interface Received {
  readonly method: string | undefined;
  readonly path: string;
  readonly message: string | null;
  readonly body: unknown;
}

describe('the test-only helper requests', () => {
  let connections: GatewayConnections;
  let server: LoopbackServer;
  let received: Received[];
  let answer: { readonly status: number; readonly body: string };
  let tester: TestParty;
  let shop: TestParty;
  const { signal } = new AbortController();
  const clock = new FakeClock();

  beforeAll(async () => {
    [tester, shop] = await Promise.all([aParty(), aParty()]);
  });
  beforeEach(async () => {
    received = [];
    answer = { status: 200, body: 'ok' };
    connections = new GatewayConnections(clock);
    server = await LoopbackServer.http((request, response) => {
      const url = new URL(request.url ?? '', 'http://loopback');
      void text(request).then((body) => {
        const { method } = request;
        received.push({ method, path: url.pathname, message: url.searchParams.get('message'), body: JSON.parse(body) });
        response.writeHead(answer.status).end(answer.body);
      });
    });
  });
  afterEach(async () => {
    await connections.close();
    await server.close();
  });

  const inTest = (overrides: Partial<MerchantGateway> = {}): MerchantGateway =>
    aMerchantGateway(tester, {
      merchant: 'trial',
      testBaseUrl: new URL(`http://127.0.0.1:${server.port}/test`),
      ...overrides,
    });
  const inProduction = (overrides: Partial<MerchantGateway> = {}): MerchantGateway =>
    aMerchantGateway(shop, { environment: 'production', ...overrides });
  const helpers = (...merchants: MerchantGateway[]): CipherHelpers =>
    new CipherHelpers({ merchants: () => merchants, connections, clock });

  it('have the gateway open a JWE with a private test key', async () => {
    answer = { status: 200, body: '{"opened": true}' };
    const call = { merchant: 'trial', signal, jwe: 'a.b.c.d.e', privateJwk: { ...tester.privateJwk, kid: 'x' } };
    expect(await helpers(inTest(), inProduction()).decrypt(call)).toBe('{"opened": true}');
    expect(received).toEqual([
      { method: 'POST', path: '/test/cipher/decrypt_by_jwk', message: 'a.b.c.d.e', body: tester.privateJwk },
    ]);
  });

  it('have the gateway seal a text to a public key', async () => {
    answer = { status: 200, body: 'a.b.c.d.e' };
    const call = { merchant: 'trial', signal, plaintext: '{"a": "ü&=+ #"}', publicJwk: tester.publicJwk };
    expect(await helpers(inTest(), inProduction()).encrypt(call)).toBe('a.b.c.d.e');
    expect(received).toEqual([
      { method: 'POST', path: '/test/cipher/encrypt_by_jwk', message: '{"a": "ü&=+ #"}', body: tester.publicJwk },
    ]);
  });

  it('fail as the gateway says', async () => {
    answer = { status: 200, body: JSON.stringify({ msgType: 'ERROR', msgCode: 'b_encryptor_failed_decrypt_message' }) };
    const call = { merchant: 'trial', signal, jwe: 'a.b.c.d.e', privateJwk: tester.privateJwk };
    await expect(helpers(inTest()).decrypt(call)).rejects.toMatchObject({
      kind: 'refused',
      msgCode: 'b_encryptor_failed_decrypt_message',
    });
    answer = { status: 502, body: '' };
    await expect(helpers(inTest()).decrypt(call)).rejects.toMatchObject({ kind: 'transient' });
  });

  it.each<[string, () => Promise<MerchantGateway[]>]>([
    ['for a merchant that does not exist', async () => []],
    ['for a merchant in production', async () => [inTest({ environment: 'production' })]],
    ['for a merchant without a testBaseUrl', async () => [aMerchantGateway(tester, { merchant: 'trial' })]],
    [
      'with a key that a merchant in production uses',
      async () => [inTest(), inProduction({ clientKeys: [tester.key] })],
    ],
    [
      'with a key that a merchant in production still opens with',
      async () => [inTest(), inProduction({ clientKeys: [shop.key, tester.key] })],
    ],
    [
      'with a key that a merchant in production seals to',
      async () => {
        const recipient = await importServerKey(tester.publicJwk);
        return [inTest(), inProduction({ requestData: { attach: 'body', name: 'jwe', recipient } })];
      },
    ],
  ])('are impossible %s', async (_what, merchants) => {
    const helper = helpers(...(await merchants()));
    const common = { merchant: 'trial', signal };
    const decrypting = helper.decrypt({ ...common, jwe: 'a.b.c.d.e', privateJwk: tester.privateJwk });
    await expect(decrypting).rejects.toMatchObject({ code: 'helper_forbidden' });
    const encrypting = helper.encrypt({ ...common, plaintext: 'x', publicJwk: tester.publicJwk });
    await expect(encrypting).rejects.toMatchObject({ code: 'helper_forbidden' });
    expect(server.connections).toBe(0);
  });

  it('take no production scalar under the coordinates of a test key', async () => {
    const mixed = { ...tester.privateJwk, d: shop.privateJwk['d'] };
    const call = helpers(inTest(), inProduction()).decrypt({ merchant: 'trial', signal, jwe: 'x', privateJwk: mixed });
    await expect(call).rejects.toThrow(BrokerError);
    await expect(call).rejects.toMatchObject({ code: 'jwk_invalid' });
    expect(server.connections).toBe(0);
  });

  it('take no private key where a public one is due', async () => {
    const call = { merchant: 'trial', signal, plaintext: 'x', publicJwk: tester.privateJwk };
    await expect(helpers(inTest()).encrypt(call)).rejects.toMatchObject({ code: 'jwk_invalid' });
    expect(server.connections).toBe(0);
  });
});
