import { eventually, LoopbackServer, TestAuthority } from '#libs/testing';
import { ROUTES } from './callers.js';
import { answer, good, type HostileGateway, outcomeOf, type Play } from './hostile-gateway.js';
import type { PlayedBroker } from './played-broker.js';
import { PlayedStage } from './played-stage.js';
import { aClient, RunningEgress } from './running-egress.js';

describe('connections to the gateway', () => {
  let stage: PlayedStage;
  let broker: PlayedBroker;
  let gateway: HostileGateway;
  let egress: RunningEgress;

  beforeAll(async () => {
    stage = await PlayedStage.start();
    ({ broker, gateway, egress } = stage);
  });
  afterAll(() => stage.close());

  it('are not used with a certificate of an authority that nobody trusts: nothing was sent', async () => {
    let requests = 0;
    const certificate = new TestAuthority().issue({ names: ['127.0.0.1'] });
    const server = await LoopbackServer.https(certificate, (_request, response) => {
      requests += 1;
      response.end('{}');
    });
    const gatewayCa = new TestAuthority('Another').cert;
    const other = await RunningEgress.start({ broker, gatewayUrl: `https://127.0.0.1:${server.port}`, gatewayCa });
    for (const caller of other.callers())
      for (const route of ROUTES) expect(outcomeOf(await caller.pay(route, {}))).toBe('502 gateway_unreachable');
    expect(requests).toBe(0);
    await other.close();
    await server.close();
  });

  it('are used again, and one that the gateway closed meanwhile is not', async () => {
    const plain = egress.plain();
    await gateway.script();
    for (let number = 0; number < 3; number += 1) expect(outcomeOf(await plain.pay('clear', {}))).toBe('good');
    expect(gateway.connections).toBe(1);
    for (let number = 0; number < 20; number += 1) {
      await gateway.dropConnections();
      expect(outcomeOf(await plain.pay('clear', {}))).toBe('good');
    }
    expect(gateway.seen).toHaveLength(23);
  });

  it.each<[string, Play]>([
    ['ended', { run: ({ socket }) => void socket.end() }],
    ['reset', { run: ({ socket }) => void socket.resetAndDestroy() }],
  ])('are %s by the gateway as they are used again: not known, and not sent again', async (_how, play) => {
    for (const caller of egress.callers())
      for (const route of ROUTES) {
        await gateway.script(good, play);
        await caller.pay(route, {});
        expect(outcomeOf(await caller.pay(route, {}))).toBe('502 answer_lost');
        expect(gateway.seen).toHaveLength(2);
      }
  });

  it('that end in trouble carry no other request', async () => {
    await gateway.script({
      run: ({ socket, good: body }) => void socket.write(answer(200, body) + answer(500, '{"of":"another"}')),
    });
    const plain = egress.plain();
    const told: string[] = [];
    for (let number = 0; number < 4; number += 1) told.push(outcomeOf(await plain.pay('clear', {})));
    expect(told).toEqual(['good', 'good', 'good', 'good']);
  });

  it('are not shared by forty payments at once in a way that mixes their answers', async () => {
    const echo: Play = {
      run: ({ request, gateway: at, socket }) => {
        const isSealed = request.target.includes('/payments/');
        const text = isSealed ? at.plaintextOf(request) : request.body.toString('utf8');
        socket.write(answer(200, isSealed ? at.sealed(text) : text));
      },
    };
    for (const caller of egress.callers())
      for (const route of ROUTES) {
        await gateway.script(...Array.from({ length: 40 }, () => echo));
        const payments = Array.from({ length: 40 }, (_, number) => ({ merchantRequestId: `payment-${number}` }));
        const answers = await Promise.all(payments.map((payment) => caller.pay(route, payment)));
        expect(answers.map(({ text }) => JSON.parse(text) as unknown)).toEqual(payments);
        expect(gateway.seen).toHaveLength(40);
      }
  });

  it('are of one merchant each, so that a body which the gateway does not read is no request of another merchant', async () => {
    const clients = [aClient('shop', 'shop'), aClient('other', 'other')];
    const two = await RunningEgress.start({ broker, gatewayUrl: gateway.url, clients });
    const carried = new Map<object, Set<string | undefined>>();
    const unread: Play = {
      on: 'head',
      run: ({ request, socket, gateway: at, good: body }) => {
        const merchants = carried.get(socket) ?? new Set();
        carried.set(socket, merchants.add(at.sessionOf(request)?.merchant));
        socket.write(answer(200, body));
      },
    };
    await gateway.script(...Array.from({ length: 6 }, () => unread));
    for (let number = 0; number < 3; number += 1)
      for (const { name } of clients) expect(outcomeOf(await two.plain(name).pay('clear', {}))).toBe('good');
    await two.close();
    expect([...carried.values()].map((merchants) => [...merchants])).toEqual([['shop'], ['other']]);
  });

  it.each(['content-length', 'transfer-encoding'])(
    'bring an answer in clear that is too long to be held back whole, by %s',
    async (framing) => {
      const long = 'a long body '.repeat(100_000);
      const routes = [{ path: '/ecom/**', body: 'clear', encrypted: [], maxBytes: 4_000_000 } as const];
      const other = await RunningEgress.start({ broker, gatewayUrl: gateway.url, routes });
      const chunk = `${long.length.toString(16)}\r\n${long}\r\n0\r\n\r\n`;
      const text = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunk}`;
      await gateway.script({
        run: ({ socket }) => void socket.write(framing === 'content-length' ? answer(200, long) : text),
      });
      const given = await other.plain().pay('clear', '{}');
      await other.close();
      expect([given.status, given.isCut, given.text === long]).toEqual([200, false, true]);
    },
  );
});

describe('an egress that ends', () => {
  it('lets payments under way end, takes no new ones, and closes its connections', async () => {
    const { broker, gateway, egress } = await PlayedStage.start();
    const callers = egress.callers();
    for (const caller of callers) await caller.pay('clear', {});
    const held: (() => void)[] = [];
    const hold: Play = { run: ({ socket, good }) => void held.push(() => void socket.write(answer(200, good))) };
    await gateway.script(hold, hold);
    const payments = callers.map((caller) => caller.pay('sealed', {}));
    await eventually(() => held.length === 2);
    const closed = egress.close();
    await eventually(() => egress.lines.some((line) => line.includes('egress stopping')));
    const late = await egress.plain().pay('clear', {});
    expect([0, 503]).toContain(late.status);
    for (const go of held) go();
    expect((await Promise.all(payments)).map(({ status }) => status)).toEqual([200, 200]);
    await closed;
    expect(gateway.seen).toHaveLength(2);
    await eventually(() => gateway.openConnections === 0);
    await gateway.close();
    await broker.close();
  });
});
