import { createLogger, startTelemetry } from '#libs/telemetry';
import { endedAfterAll, eventually, FakeClock } from '#libs/testing';
import { CREATE, PATHS } from './callers.js';
import { PlayedStage } from './played-stage.js';
import { RawConnection } from './raw-exchange.js';
import { aClient } from './running-egress.js';

const ORDER = { merchantRequestId: 'order-1', coinAmount: 100 };

describe('an egress with more connections than it takes', () => {
  let stage: PlayedStage;

  const started = endedAfterAll();
  beforeAll(async () => {
    const logger = createLogger({ name: 'egress', level: 'error' });
    const telemetry = await startTelemetry({ serviceName: 'session-egress', serviceVersion: '1', logger });
    const connections = { max: 40, perAddress: 30 };
    stage = started.add(await PlayedStage.start({ telemetry, connections }), (it) => it.close());
  });

  it('counts the connections that it refuses', async () => {
    const { egress } = stage;
    const opened: RawConnection[] = [];
    for (let count = 0; count < 31; count += 1) opened.push(await RawConnection.to(egress.url));
    await eventually(() => opened.some(({ isClosed }) => isClosed));
    for (const connection of opened) connection.vanish();
    expect(await egress.metrics()).toMatch(
      /^session_egress_ended_connections_total\{port="api",reason="address"\} [1-9]/m,
    );
    expect(await egress.metrics()).toContain(
      'session_egress_ended_connections_total{port="management",reason="unread"} 0',
    );
  });
});

describe('an egress before callers that never finish their requests', () => {
  /** More than there are places for requests under way. */
  const MANY = 1_030;
  const clock = new FakeClock(new Date().toISOString());
  let stage: PlayedStage;

  beforeAll(async () => {
    stage = await PlayedStage.start({ clock, clients: [aClient('shop'), aClient('kiosk', 'other')] });
  });
  afterAll(() => stage.close());

  it.each([
    ['strangers, by create calls', { path: CREATE, length: 1_000, withinMs: 2_000 }],
    ['a known client, by refunds', { path: PATHS.sealed, length: 60_000, withinMs: 10_000 }],
  ])('makes the payments of everybody else: %s', async (_who, { path, length, withinMs }) => {
    const { egress, gateway } = stage;
    const own = [`POST ${path} HTTP/1.1`, 'host: egress', 'content-type: application/json'];
    const credential = path === CREATE ? [] : [`authorization: Bearer ${egress.client().token}`];
    const head = [...own, ...credential, `content-length: ${length}`, 'expect: 100-continue'].join('\r\n');
    const unfinished: RawConnection[] = [];
    for (let count = 0; count < MANY; count += 1) {
      const connection = await RawConnection.to(egress.url);
      connection.write(`${head}\r\n\r\n`);
      unfinished.push(connection);
    }
    await eventually(() => unfinished.every(({ statuses }) => statuses.length > 0));
    for (const connection of unfinished) connection.write('{');
    await gateway.script();
    for (const caller of [egress.plain('kiosk'), egress.alias('kiosk')])
      expect((await caller.pay('sealed', ORDER)).status).toBe(200);
    await clock.advance(withinMs);
    await eventually(() => unfinished.every(({ isClosed }) => isClosed));
    expect(new Set(unfinished.flatMap(({ statuses }) => statuses))).toEqual(new Set([100, 408]));
  });
});
