import { jest } from '@jest/globals';
import { eventually } from '#libs/testing';
import { CREATE, PATHS, type PlainCaller, type Route, ROUTES } from './callers.js';
import { type HostileGateway, outcomeOf } from './hostile-gateway.js';
import { AliasSessions } from '../../apps/egress/src/alias/alias-sessions.js';
import { MerchantSession } from '../../apps/egress/src/sessions/merchant-session.js';
import { PlayedStage } from './played-stage.js';
import { exchange, RawConnection } from './raw-exchange.js';
import { MAX_BODY_BYTES, type RunningEgress } from './running-egress.js';

describe('the request of a client', () => {
  let stage: PlayedStage;
  let gateway: HostileGateway;
  let egress: RunningEgress;
  let plain: PlainCaller;
  let token: string;

  beforeAll(async () => {
    stage = await PlayedStage.start();
    ({ gateway, egress } = stage);
    plain = egress.plain();
    ({ token } = egress.client());
    await plain.pay('clear', {});
  });
  beforeEach(() => gateway.script());
  afterAll(() => stage.close());

  const head = (route: Route, ...lines: readonly string[]): string => headTo(PATHS[route], lines);
  const headTo = (path: string, lines: readonly string[]): string => {
    const own = [
      `POST ${path} HTTP/1.1`,
      'host: egress',
      `authorization: Bearer ${token}`,
      'content-type: application/json',
    ];
    return `${[...own, ...lines].join('\r\n')}\r\n\r\n`;
  };
  const received = (connection: RawConnection, text: string): Promise<void> =>
    eventually(() => connection.received.includes(text) || connection.isClosed);
  const opened = (): string => {
    const [request] = gateway.seen;
    if (request === undefined) return 'nothing came';
    return request.target === PATHS.sealed ? gateway.plaintextOf(request) : request.body.toString('utf8');
  };

  describe('with Expect: 100-continue', () => {
    it.each(ROUTES)('is asked for its body once it is let in: %s', async (route) => {
      const connection = await RawConnection.to(egress.url);
      connection.write(head(route, 'content-length: 13', 'expect: 100-continue'));
      await received(connection, '100 Continue');
      expect(connection.statuses).toEqual([100]);
      connection.write('{"amount": 5}');
      await received(connection, 'PAID');
      expect(connection.statuses).toEqual([100, 200]);
      expect(opened()).toBe('{"amount": 5}');
      expect(gateway.seen[0]?.headerNames).not.toContain('expect');
      connection.vanish();
    });

    it.each([
      ['a token of nobody', { status: 401, path: PATHS.clear, bearer: 'of-nobody', length: 13 }],
      ['a path without a route', { status: 404, path: '/elsewhere/pay', bearer: '', length: 13 }],
      ['a body that is too large', { status: 413, path: PATHS.sealed, bearer: '', length: MAX_BODY_BYTES + 1 }],
    ])('is refused before its body is sent with %s', async (_what, { status, path, bearer, length }) => {
      const connection = await RawConnection.to(egress.url);
      const text = headTo(path, [`content-length: ${length}`, 'expect: 100-continue']);
      connection.write(bearer === '' ? text : text.replace(token, bearer));
      await received(connection, 'HTTP/1.1');
      expect(connection.statuses).toEqual([status]);
      expect(gateway.seen).toEqual([]);
      connection.vanish();
    });
  });

  it.each(ROUTES)('may come in chunks: %s', async (route) => {
    const connection = await RawConnection.to(egress.url);
    connection.write(head(route, 'transfer-encoding: chunked'));
    for (const part of ['{"amo', 'unt": ', '5}']) connection.write(`${part.length.toString(16)}\r\n${part}\r\n`);
    connection.write('0\r\n\r\n');
    await received(connection, 'PAID');
    expect(connection.statuses).toEqual([200]);
    expect(opened()).toBe('{"amount": 5}');
    connection.vanish();
  });

  it.each(['GET', 'TRACE'])('is none of the interface by %s', async (method) => {
    for (const path of [PATHS.clear, PATHS.sealed, CREATE]) {
      const given = await exchange(egress.url, { method, path, headers: ['authorization', `Bearer ${token}`] });
      expect([given.status, given.headers.allow]).toEqual([405, 'POST']);
    }
    expect(gateway.seen).toEqual([]);
  });

  it('is refused on a clear route without a body of JSON', async () => {
    for (const caller of egress.callers())
      for (const body of ['', 'amount=5'])
        expect(outcomeOf(await caller.pay('clear', body))).toBe('400 invalid_request');
    expect(gateway.seen).toEqual([]);
  });

  it.each([
    ['text that is no JSON', { body: 'amount=5', type: 'application/json', statuses: [400] }],
    ['nothing', { body: '', type: 'application/json', statuses: [400, 415] }],
    ['no type', { body: '{}', type: undefined, statuses: [415] }],
  ])('is refused on a sealed route with %s', async (_what, { body, type, statuses }) => {
    const headers = ['authorization', `Bearer ${token}`, ...(type === undefined ? [] : ['content-type', type])];
    const given = await exchange(egress.url, { path: PATHS.sealed, headers, body });
    expect(statuses).toContain(given.status);
    expect(gateway.seen).toEqual([]);
  });

  it('of an alias client is refused when its body is not sealed to the alias session', async () => {
    const alias = egress.alias();
    const headers = [...(await alias.presented()), 'content-type', 'text/plain'];
    for (const body of ['no JWE', 'a.b.c.d.e', '']) {
      const given = await exchange(egress.url, { path: PATHS.sealed, headers, body });
      expect([200, 400]).toContain(given.status);
      expect(JSON.parse(given.body.toString())).toMatchObject({
        msgCode: expect.any(String),
        serviceId: 'session-egress',
      });
    }
    expect(gateway.seen).toEqual([]);
  });

  describe('that is too large', () => {
    const large = JSON.stringify({ note: 'x'.repeat(MAX_BODY_BYTES) });

    it.each(ROUTES)('is refused before anything is sent, when its length says so: %s', async (route) => {
      for (const caller of egress.callers()) {
        if (caller.form === 'alias' && route === 'sealed') continue;
        const given = await caller.pay(route, large);
        expect([given.status, given.code]).toEqual([413, 'payload_too_large']);
        expect(gateway.seen).toEqual([]);
      }
    });

    it('is refused when it comes in chunks, and no whole request reaches the gateway', async () => {
      for (const route of ROUTES) {
        const connection = await RawConnection.to(egress.url);
        connection.write(head(route, 'transfer-encoding: chunked'));
        for (let part = 0; part < 20; part += 1) connection.write(`1000\r\n${'x'.repeat(4_096)}\r\n`);
        await received(connection, 'HTTP/1.1');
        expect(connection.statuses).toEqual([413]);
        expect(gateway.seen.filter(({ isWhole }) => isWhole)).toEqual([]);
        connection.vanish();
      }
    });
  });

  describe('with two lengths', () => {
    const smuggled = `GET /ecom/execute_request/hpp/v1/smuggled HTTP/1.1\r\nhost: x\r\n\r\n`;

    it.each<[string, readonly string[]]>([
      ['a length and chunks', ['content-length: 5', 'transfer-encoding: chunked']],
      ['two lengths that differ', ['content-length: 5', 'content-length: 105']],
      ['another coding below the chunks', ['transfer-encoding: gzip, chunked']],
    ])('is refused, and what follows is not taken for a request: %s', async (_what, lines) => {
      const connection = await RawConnection.to(egress.url);
      connection.write(`${head('clear', ...lines)}0\r\n\r\n${smuggled}`);
      await eventually(() => connection.isClosed || connection.statuses.length > 0);
      await eventually(() => connection.isClosed);
      expect(connection.statuses.every((status) => status >= 400)).toBe(true);
      expect(gateway.seen.filter(({ target }) => target.includes('smuggled'))).toEqual([]);
      expect(gateway.seen.filter(({ isWhole }) => isWhole)).toEqual([]);
    });
  });

  it('is followed, when it was sealed, by what seals the next one, and the next answer to who opens it itself', async () => {
    const ofRequests = jest.spyOn(MerchantSession.prototype, 'prepareSeal');
    const ofAnswers = jest.spyOn(AliasSessions.prototype, 'prepareSeal');
    for (const [caller, prepared] of [
      [plain, '1,0'],
      [egress.alias(), '2,1'],
    ] as const) {
      for (const route of ROUTES) expect(outcomeOf(await caller.pay(route, {}))).toBe('good');
      await eventually(() => [ofRequests, ofAnswers].map(({ mock }) => mock.calls.length).join() === prepared);
    }
    jest.restoreAllMocks();
  });
});
