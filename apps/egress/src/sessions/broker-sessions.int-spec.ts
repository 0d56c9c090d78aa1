import { SystemClock } from '#libs/clock';
import { createLogger } from '#libs/telemetry';
import { aSessionDocument, endedAfterEach, eventually, LoopbackServer } from '#libs/testing';
import { BrokerSessions } from './broker-sessions.js';

/** More than a connection pool for calls allows. */
const MERCHANTS = 80;

describe('the sessions that a broker gives', () => {
  const started = endedAfterEach();
  const clock = new SystemClock();

  it('are followed for each of many merchants at once', async () => {
    const followed = new Set<string | undefined>();
    const broker = await LoopbackServer.http((request, response) => {
      const [, merchant = '', rest = ''] = /^\/v1\/merchants\/([^/]+)\/session(.*)/.exec(request.url ?? '') ?? [];
      if (!rest.startsWith('/events')) {
        response
          .writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
          .end(JSON.stringify({ ...aSessionDocument(), merchant }));
        return;
      }
      followed.add(merchant);
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' }).write(': here\n\n');
    });
    started.add(broker, (it) => it.close());
    const logger = createLogger({ name: 'egress', level: 'error' });
    const url = new URL(`http://127.0.0.1:${broker.port}`);
    const sessions = new BrokerSessions({ broker: { url, tls: {} }, clock, logger, onHeld: () => undefined });
    const merchants = Array.from({ length: MERCHANTS }, (_each, index) => `shop-${index}`);
    started.add(merchants, async (all) => void (await Promise.all(all.map((one) => sessions.giveBack(one)))));
    for (const merchant of merchants) sessions.take(merchant).start();
    await eventually(() => followed.size === MERCHANTS, 90_000).catch(() => undefined);
    expect(followed.size).toBe(MERCHANTS);
  });
});
