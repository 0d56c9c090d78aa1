import { eventually } from '#libs/testing';
import { PATHS, type PlainCaller } from './callers.js';
import { answer, HostileGateway, type Part, type Play } from './hostile-gateway.js';
import { PlayedBroker } from './played-broker.js';
import { PlayedStage } from './played-stage.js';
import { RawConnection } from './raw-exchange.js';
import { RunningEgress } from './running-egress.js';

const MAX_BYTES = 4_000_000;
const LONG = 'a long body '.repeat(100_000);
const DEAD = JSON.stringify({ requestId: 'r', serviceId: 's', msgCode: 'b_expired_token', msgType: 'ERROR' });

const saying = (text: (part: Part) => string, on: 'head' | 'request' = 'request'): Play => ({
  on,
  run: (part) => void part.socket.write(text(part)),
});
const received: Play = saying(({ request }) => answer(200, JSON.stringify({ length: request.body.length })));

describe('a body in clear that is too long to be kept', () => {
  let stage: PlayedStage;
  let broker: PlayedBroker;
  let gateway: HostileGateway;
  let egress: RunningEgress;
  let plain: PlainCaller;

  beforeAll(async () => {
    const routes = [
      {
        path: '/ecom/execute_request/hpp/**',
        body: 'clear',
        encrypted: [],
        notCards: [],
        maxBytes: MAX_BYTES,
      } as const,
    ];
    stage = await PlayedStage.start({ timeoutMs: 8_000, routes });
    ({ broker, gateway, egress } = stage);
    plain = egress.plain();
    await plain.pay('clear', {});
  });
  afterAll(() => stage.close());

  const head = (...lines: readonly string[]): string => {
    const own = [`POST ${PATHS.clear} HTTP/1.1`, 'host: egress', `authorization: Bearer ${egress.client().token}`];
    return `${[...own, 'content-type: application/json', ...lines].join('\r\n')}\r\n\r\n`;
  };
  const whole = (): number => gateway.seen.filter(({ isWhole }) => isWhole).length;
  const begun = (): boolean => gateway.seen.length > 0;

  it.each(['content-length', 'transfer-encoding'])('reaches the gateway as it was sent, by %s', async (framing) => {
    await gateway.script(received);
    const headers = framing === 'content-length' ? [] : ['transfer-encoding', 'chunked'];
    const given = await plain.pay('clear', LONG, { headers });
    expect([given.status, given.text]).toEqual([200, JSON.stringify({ length: LONG.length })]);
    expect(gateway.seen[0]?.body.equals(Buffer.from(LONG))).toBe(true);
    expect(gateway.seen).toHaveLength(1);
  });

  it('is not sent again for a dead session, for it is gone: the caller is told, and the next request has a newer one', async () => {
    await gateway.script(saying(() => answer(401, DEAD)));
    const given = await plain.pay('clear', LONG);
    expect([given.status, given.text]).toEqual([401, DEAD]);
    expect(gateway.seen).toHaveLength(1);
    await eventually(() => broker.rejections.length === 1);
    expect((await plain.pay('clear', '{}')).status).toBe(200);
    const [first, second] = gateway.seen.map((request) => gateway.sessionOf(request)?.generation ?? 0);
    expect(second).toBeGreaterThan(first ?? 0);
  });

  it('never reaches the gateway whole when its client goes away in the middle', async () => {
    for (const lines of [[`content-length: ${LONG.length}`], ['transfer-encoding: chunked']]) {
      await gateway.script();
      const connection = await RawConnection.to(egress.url);
      const half = LONG.slice(0, LONG.length / 2);
      const isChunked = lines[0] === 'transfer-encoding: chunked';
      connection.write(head(...lines) + (isChunked ? `${half.length.toString(16)}\r\n${half}\r\n` : half));
      await eventually(begun);
      connection.vanish();
      await eventually(() => gateway.openConnections === 0);
      expect(whole()).toBe(0);
    }
  });

  it('never reaches the gateway whole when it turns out to be longer than allowed', async () => {
    await gateway.script();
    const connection = await RawConnection.to(egress.url);
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    connection.write(head('transfer-encoding: chunked') + chunk.repeat(70));
    await eventually(() => connection.isClosed || connection.statuses.length > 0);
    // On a busy machine the time for the whole exchange may be over before the limit is exceeded.
    expect(connection.statuses.filter((status) => ![413, 504].includes(status))).toEqual([]);
    await eventually(() => gateway.openConnections === 0);
    expect([gateway.seen.length, whole()]).toEqual([1, 0]);
    connection.vanish();
  });

  it('is told of as lost when the gateway breaks off while it is sent', async () => {
    await gateway.script({ on: 'head', run: ({ socket }) => void socket.resetAndDestroy() });
    expect(await plain.pay('clear', LONG)).toMatchObject({ status: 502, code: 'answer_lost' });
    expect(gateway.seen).toHaveLength(1);
  });

  it('is told of as late when the gateway takes none of it', async () => {
    await gateway.script({ on: 'head', run: ({ socket }) => void socket.pause() });
    const given = await plain.pay('clear', LONG);
    expect(given).toMatchObject({ status: 504, code: 'answer_late' });
    expect(gateway.seen).toHaveLength(1);
  });

  it('may be answered before it has been sent', async () => {
    await gateway.script({
      on: 'head',
      run: ({ socket }) => void socket.end(answer(413, '{"no":1}', ['connection: close'])),
    });
    const given = await plain.pay('clear', LONG);
    expect([
      [413, '{"no":1}'],
      [502, given.text],
    ]).toContainEqual([given.status, given.text]);
    expect(gateway.seen).toHaveLength(1);
  });

  it.each(['content-length', 'transfer-encoding'])('passes on its way back as well, by %s', async (framing) => {
    const size = LONG.length.toString(16);
    const text = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${size}\r\n${LONG}\r\n0\r\n\r\n`;
    await gateway.script(saying(() => (framing === 'content-length' ? answer(200, LONG) : text)));
    const given = await plain.pay('clear', '{}');
    expect([given.status, given.isCut, given.text === LONG]).toEqual([200, false, true]);
  });

  it('reaches a client whole that begins to read late', async () => {
    const octets = Buffer.alloc(MAX_BYTES, 'x');
    await gateway.script({
      run: ({ socket }) => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${octets.length}\r\n\r\n`);
        socket.write(octets);
      },
    });
    const connection = await RawConnection.to(egress.url);
    connection.socket.pause();
    connection.write(`${head('content-length: 2')}{}`);
    await eventually(begun);
    connection.socket.resume();
    await eventually(() => connection.received.length > octets.length);
    expect(connection.received.endsWith('x'.repeat(octets.length))).toBe(true);
    connection.vanish();
  });
});

describe('an egress that ends', () => {
  it('lets payments under way end, and takes no new ones', async () => {
    const broker = await PlayedBroker.start();
    const gateway = await HostileGateway.before(broker);
    const egress = await RunningEgress.start({ broker, gatewayUrl: gateway.url });
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
    await gateway.close();
    await broker.close();
  });
});
