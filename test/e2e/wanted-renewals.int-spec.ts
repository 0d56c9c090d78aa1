import type { Test } from './http-request.js';
import { endedAfterEach } from '#libs/testing';
import { problem, RunningBroker, TOKENS } from './running-broker.js';

const SESSION = '/v1/merchants/shop/session';
const RENEWAL = `${SESSION}/renewal`;
const REFUSAL = {
  kind: 'error',
  status: 400,
  msgCode: 'b_merchant_not_found',
  operation: 'authorize',
  merchant: 'shop',
};

describe('a renewal that a person wants', () => {
  let broker: RunningBroker;
  const started = endedAfterEach();
  const start = async (setUp: Parameters<typeof RunningBroker.start>[0] = {}): Promise<void> => {
    broker = started.add(await RunningBroker.start(setUp), (it) => it.close());
  };

  const renew = (token: string = TOKENS.oncall): Test => broker.as(token).post(RENEWAL);
  const createCalls = async (): Promise<number> => {
    const calls = await broker.control('GET', '/calls?operation=authorize&merchant=shop');
    return (calls as { matching: number }).matching;
  };

  it('brings a merchant back that the bank had refused and has repaired, and tells nothing secret', async () => {
    await start({ faults: [REFUSAL] });
    await broker.as(TOKENS.payments).get(SESSION).expect(503);
    await renew()
      .expect(503)
      .expect(problem('session_unavailable'))
      .expect('retry-after', /^\d{3}$/);
    await broker.control('DELETE', '/faults');
    const calls = await createCalls();
    const { body, headers } = await renew().expect(200);
    const { body: session } = await broker.as(TOKENS.payments).get(SESSION).expect(200);
    const { merchant, generation, clientKeyThumbprint, createdAt, expiresAt, renewAt } = session as Record<
      string,
      unknown
    >;
    const told = { merchant, generation, clientKeyThumbprint, createdAt, expiresAt, renewAt };
    expect(body).toEqual({ ...told, result: 'renewed' });
    expect(headers['cache-control']).toBe('no-store');
    expect(await createCalls()).toBe(calls + 1);
  });

  it('costs one create call when twenty people want it at once, and a later one is told of the same session', async () => {
    await start({ faults: [REFUSAL] });
    await broker.as(TOKENS.payments).get(SESSION).expect(503);
    await broker.control('DELETE', '/faults');
    const calls = await createCalls();
    const answers = await Promise.all(Array.from({ length: 20 }, () => renew().expect(200)));
    const generations = answers.map(({ body }) => (body as { generation: number }).generation);
    expect(new Set(generations).size).toBe(1);
    const { body } = await renew().expect(200);
    expect(body).toMatchObject({ generation: generations[0], result: 'just_renewed' });
    const { retryInSeconds } = body as { retryInSeconds: number };
    expect([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).toContain(retryInSeconds);
    expect(await createCalls()).toBe(calls + 1);
  });

  it('needs a permission of its own, for this merchant', async () => {
    await start();
    const detail = 'this needs the permission session:renew for the merchant, or there is no such merchant';
    const { body } = await renew(TOKENS.payments).expect(403).expect(problem('forbidden'));
    expect(body).toMatchObject({ detail });
    const refusals = broker.lines.map((line) => JSON.parse(line) as object).filter((line) => 'code' in line);
    expect(refusals).toEqual([
      expect.objectContaining({
        level: 'debug',
        msg: 'request refused',
        caller: 'payments',
        code: 'forbidden',
        detail,
      }),
    ]);
    await broker.as(TOKENS.oncall).post('/v1/merchants/hidden/session/renewal').expect(403);
    await broker.as(TOKENS.oncall).get(SESSION).expect(403);
  });

  it('takes no body, and a program that names a type for none is served', async () => {
    await start();
    for (const type of ['application/x-www-form-urlencoded', 'application/json'])
      await renew().set('content-type', type).set('content-length', '0').expect(200);
  });

  it('is bounded for each caller, as all requests but reads are', async () => {
    await start({ http: 'rateLimit: { perSecond: 1, burst: 2 }' });
    await renew().expect(200);
    await renew().expect(200);
    await renew().expect(429).expect(problem('rate_limited'));
  });
});
