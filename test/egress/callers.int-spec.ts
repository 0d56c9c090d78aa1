import { randomUUID } from 'node:crypto';
import { AliasCaller, CREATE, PATHS, PlainCaller, type Route } from './callers.js';
import type { HostileGateway } from './hostile-gateway.js';
import { PAID } from './hostile-gateway.js';
import { outcomeOf } from './outcome.js';
import type { PlayedBroker } from './played-broker.js';
import { PlayedStage } from './played-stage.js';
import { exchange, type RawAnswer } from './raw-exchange.js';
import type { RunningEgress } from './running-egress.js';
import { aClient } from './running-egress.js';

const ROUTES: readonly Route[] = ['clear', 'sealed'];
const GOOD = { good: JSON.stringify(PAID) };

describe('who may use the egress', () => {
  let stage: PlayedStage;
  let broker: PlayedBroker;
  let gateway: HostileGateway;
  let egress: RunningEgress;

  beforeAll(async () => {
    const clients = [aClient('shop', 'shop'), aClient('till', 'shop'), aClient('kiosk', 'other')];
    stage = await PlayedStage.start({ clients });
    ({ broker, gateway, egress } = stage);
  });
  beforeEach(() => gateway.script());
  afterAll(() => stage.close());

  const send = (headers: readonly string[], route: Route = 'clear'): Promise<RawAnswer> =>
    exchange(egress.url, { path: PATHS[route], headers: ['content-type', 'application/json', ...headers], body: '{}' });
  const bearer = (token: string): readonly string[] => ['authorization', `Bearer ${token}`];
  const refused = (given: RawAnswer): void => {
    expect([400, 401]).toContain(given.status);
    expect(gateway.seen).toEqual([]);
  };

  it('nobody without a credential, or with one that is not quite right', async () => {
    const { token } = egress.client();
    const attempts = [
      [],
      bearer(''),
      bearer('of-nobody'),
      bearer(`${token}x`),
      bearer(token.slice(0, -1)),
      ['authorization', `Basic ${Buffer.from(`shop:${token}`).toString('base64')}`],
      ['authorization', token],
      ['x-authorization', `Bearer ${token}`],
      ['cookie', `authorization=Bearer ${token}`],
    ];
    for (const headers of attempts) for (const route of ROUTES) refused(await send(headers, route));
  });

  it('nobody by two credentials: which of them counts could be read in two ways', async () => {
    const [shop, kiosk] = [egress.client('shop'), egress.client('kiosk')];
    refused(await send([...bearer(shop.token), ...bearer(kiosk.token)]));
    refused(await send([...bearer('of-nobody'), ...bearer(shop.token)]));
    const alias = await egress.alias('kiosk').presented();
    const given = await send([...bearer('of-nobody'), ...alias]);
    refused(given);
  });

  it('nobody by a token that was configured in the place of its hash, and the log says so once, without the token', async () => {
    const [token, former] = ['a7'.repeat(32), 'b9'.repeat(32)];
    const kept = egress.client('till').token;
    await egress.reconfigure((before) => ({
      ...before,
      clients: before.clients.map((client) =>
        client.name === 'kiosk' ? { ...client, tokenDigests: [token, ...client.tokenDigests, former] } : client,
      ),
    }));
    for (const presented of [token, former, token]) refused(await send(bearer(presented)));
    const told = egress.lines.filter((line) => line.includes('holds as the hash of one'));
    expect(told.map((line) => JSON.parse(line) as object)).toEqual([
      expect.objectContaining({ level: 'warn', client: 'kiosk', setting: 'egress.clients[2].token.sha256' }),
    ]);
    expect(egress.lines.join('')).not.toMatch(new RegExp(`${token}|${former}`));
    expect((await send(bearer(kept))).status).toBe(200);
  });

  it('a token with the headers of an alias session of another client does not become that client', async () => {
    const headers = [...bearer(egress.client('shop').token), ...(await egress.alias('kiosk').presented())];
    const given = await send(headers);
    const [request] = gateway.seen;
    const merchant = request && gateway.sessionOf(request)?.merchant;
    expect([given.status === 200, merchant]).toEqual([given.status === 200, given.status === 200 ? 'shop' : undefined]);
  });

  it.each(['shop', 'kiosk'])('%s pays as its own merchant, in both forms', async (name) => {
    const { merchant } = egress.client(name);
    for (const caller of [egress.plain(name), egress.alias(name)])
      for (const route of ROUTES) {
        await gateway.script();
        expect(outcomeOf(await caller.pay(route, {}), GOOD)).toBe('good');
        expect(gateway.seen.map((request) => gateway.sessionOf(request)?.merchant)).toEqual([merchant]);
      }
  });

  it('nobody names a merchant: what a request says of one changes nothing', async () => {
    const headers = ['x-merchant', 'other', 'x-client', 'kiosk', 'x-merchant-id', 'other'];
    const path = `${PATHS.clear}?merchant=other`;
    expect(outcomeOf(await egress.plain('shop').pay('clear', { merchant: 'other' }, { headers, path }), GOOD)).toBe(
      'good',
    );
    expect(gateway.seen.map((request) => gateway.sessionOf(request)?.merchant)).toEqual(['shop']);
  });

  it('an alias session is good for its client alone', async () => {
    const shop = await egress.alias('shop').session();
    const till = await egress.alias('till').session();
    const kiosk = await egress.alias('kiosk').session();
    expect(new Set([shop, till, kiosk].map(({ deviceId }) => deviceId)).size).toBe(3);
    expect(new Set([shop, till, kiosk].map(({ refreshToken }) => refreshToken)).size).toBe(3);
    const pairs = [
      [shop.deviceId, till.refreshToken],
      [kiosk.deviceId, shop.refreshToken],
      [shop.deviceId, shop.authToken],
      [shop.refreshToken, shop.deviceId],
      [shop.deviceId, ''],
      [randomUUID(), randomUUID()],
    ];
    for (const [deviceId = '', refreshToken = ''] of pairs) {
      const given = await send(['x-api_version', 'V1', 'x-device_id', deviceId, 'x-refresh_token', refreshToken]);
      expect([given.status, JSON.parse(given.body.toString())]).toEqual([
        401,
        expect.objectContaining({ msgCode: 'b_session_doesnt_exist' }),
      ]);
    }
    expect(gateway.seen).toEqual([]);
  });

  it('an alias session of which a part is missing or said twice is none', async () => {
    const { deviceId, refreshToken } = await egress.alias('shop').session();
    const kiosk = await egress.alias('kiosk').session();
    const attempts = [
      ['x-device_id', deviceId],
      ['x-refresh_token', refreshToken],
      ['x-device_id', deviceId, 'x-device_id', kiosk.deviceId, 'x-refresh_token', refreshToken],
      ['x-device_id', deviceId, 'x-refresh_token', refreshToken, 'x-refresh_token', kiosk.refreshToken],
    ];
    for (const headers of attempts) refused(await send(headers));
  });

  it('the session of the bank is worth nothing at the egress', async () => {
    await egress.plain('shop').pay('clear', {});
    const session = broker.sessions[0];
    await gateway.script();
    const { deviceId = '', refreshToken = '', authToken = '' } = session ?? {};
    refused(await send(['x-device_id', deviceId, 'x-refresh_token', refreshToken]));
    refused(await send(bearer(authToken)));
  });

  it('an answer for an alias client is sealed to its own key, whoever holds its session', async () => {
    const shop = egress.client('shop');
    const strangers = new AliasCaller(egress.url, { serviceCode: shop.serviceCode, key: aClient().key });
    await expect(strangers.session()).rejects.toThrow();
    strangers.take(await egress.alias('shop').session());
    await expect(strangers.pay('sealed', {})).rejects.toThrow();
  });

  it('an alias that nobody has gets no session, and is not told why', async () => {
    const nobody = new AliasCaller(egress.url, { serviceCode: randomUUID(), key: aClient().key });
    const given = await nobody.create();
    expect([given.status, given.code]).toEqual([200, 'b_merchant_not_found']);
    expect(gateway.seen).toEqual([]);
  });

  it('the alias may be in the query, as published clients send it', async () => {
    const { serviceCode } = egress.client('shop');
    for (const body of [undefined, '{}', '']) {
      const headers = ['x-api_version', 'V1', 'content-type', 'application/json'];
      const path = `${CREATE}?serviceCode=${serviceCode}`;
      const given = await exchange(egress.url, { path, headers, ...(body === undefined ? {} : { body }) });
      expect(JSON.parse(given.body.toString())).toEqual({ jwe: expect.any(String) });
    }
    expect(gateway.seen).toEqual([]);
  });

  it('an alias session stays the same for its client, and tells nothing of the bank', async () => {
    const [first, second] = [await egress.alias('shop').session(), await egress.alias('shop').session()];
    const parts = ({ deviceId, refreshToken, authToken, serverPublic }: typeof first): unknown => [
      deviceId,
      refreshToken,
      authToken,
      serverPublic,
    ];
    expect(parts(second)).toEqual(parts(first));
    broker.renew();
    expect(parts(await egress.alias('shop').session())).toEqual(parts(first));
    const text = JSON.stringify(first);
    for (const session of broker.sessions)
      for (const secret of [session.deviceId, session.refreshToken, session.authToken, session.serverKey.jwk.x])
        expect(text).not.toContain(secret);
  });

  it('a refusal repeats nothing of what was presented', async () => {
    const token = `of-nobody-${randomUUID()}`;
    const given = await new PlainCaller(egress.url, token).pay('clear', {});
    expect(JSON.stringify([given.rawHeaders, given.text])).not.toContain(token);
  });
});
