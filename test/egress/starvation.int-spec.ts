import { eventually, FakeClock } from '#libs/testing';
import { CREATE, PATHS } from './callers.js';
import { PlayedStage } from './played-stage.js';
import { RawConnection } from './raw-exchange.js';
import { aClient } from './running-egress.js';

const ORDER = { merchantRequestId: 'order-1', coinAmount: 100 };

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
