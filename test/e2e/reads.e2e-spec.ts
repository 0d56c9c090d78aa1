import { SystemClock } from '#libs/clock';
import { RunningBroker, TOKENS } from './running-broker.js';

const PATH = '/v1/merchants/shop/session';
/** Makes a request take the framework's way: a preference that nobody understands is ignored. */
const THROUGH_THE_FRAMEWORK = { prefer: 'respond-async' };

interface SessionBody {
  readonly generation: number;
  readonly authToken: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly renewAt: string;
}

async function sessionOf(response: Response): Promise<SessionBody> {
  return (await response.json()) as SessionBody;
}

describe('reading a session', () => {
  let broker: RunningBroker;

  beforeAll(async () => {
    broker = await RunningBroker.start();
    await broker.get(PATH, { prefer: 'wait=5' });
  });
  afterAll(() => broker.close());

  it('gives the whole session in its one shape', async () => {
    const response = await broker.get(PATH);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      merchant: 'shop',
      generation: expect.any(Number),
      authToken: expect.stringMatching(/^[0-9a-f-]{36}$/),
      deviceId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      refreshToken: expect.stringMatching(/^[0-9a-f-]{36}$/),
      serverPublic: { kty: 'EC', crv: 'P-384', x: expect.any(String), y: expect.any(String) },
      clientKeyThumbprint: broker.thumbprint,
      createdAt: expect.stringMatching(/Z$/),
      expiresAt: expect.stringMatching(/Z$/),
      renewAt: expect.stringMatching(/Z$/),
    });
  });

  it('says how long it may be kept: until it is renewed, and by this caller only', async () => {
    const response = await broker.get(PATH);
    const { generation, renewAt } = await sessionOf(response);
    expect(response.headers.get('etag')).toBe(`"${generation}"`);
    const maxAge = Number(/^private, max-age=(\d+)$/.exec(response.headers.get('cache-control') ?? '')?.[1]);
    const untilRenewal = (Date.parse(renewAt) - Date.now()) / 1_000;
    expect(maxAge).toBeLessThanOrEqual(untilRenewal + 1);
    expect(maxAge).toBeGreaterThan(untilRenewal - 3);
  });

  it('answers 304 without a body to whoever holds the session already', async () => {
    const etag = (await broker.get(PATH)).headers.get('etag') ?? '';
    for (const held of [etag, `W/${etag}`, `"1", ${etag}`, '*']) {
      const response = await broker.get(PATH, { 'if-none-match': held });
      expect([held, response.status, await response.text()]).toEqual([held, 304, '']);
      expect(response.headers.get('etag')).toBe(etag);
    }
    expect((await broker.get(PATH, { 'if-none-match': '"1"' })).status).toBe(200);
  });

  it('gives the same answer before the framework and through it', async () => {
    const etag = (await broker.get(PATH)).headers.get('etag') ?? '';
    for (const headers of [{}, { 'if-none-match': etag }, { 'if-none-match': '"1"' }, { 'x-request-id': 'mine-1' }]) {
      const early = await broker.get(PATH, headers);
      const late = await broker.get(PATH, { ...headers, ...THROUGH_THE_FRAMEWORK });
      const comparable = async (response: Response): Promise<object> => {
        const {
          date: _date,
          'x-request-id': id,
          'cache-control': cache,
          ...rest
        } = Object.fromEntries(response.headers);
        const ownId = id === 'mine-1' ? id : (id ?? '').length;
        return { status: response.status, rest, ownId, cache: cache?.split('=')[0], body: await response.text() };
      };
      expect(await comparable(early)).toEqual(await comparable(late));
    }
  });

  it('takes over a harmless request id and replaces any other', async () => {
    const given = async (id: string): Promise<string | null> =>
      (await broker.get(PATH, { 'x-request-id': id })).headers.get('x-request-id');
    expect(await given('order-4711')).toBe('order-4711');
    expect(await given('x'.repeat(65))).toMatch(/^[0-9a-f-]{36}$/);
    expect(await given('a b"c')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    ['a clock an hour ahead, its expiries with it', 3_600_000],
    ['a clock a year behind, its expiries with it', -31_536_000_000],
  ])('serves a session of a gateway with %s, for as long as it lives', async (_name, skewMs) => {
    const fault = { kind: 'clock_skew', operation: 'authorize', merchant: 'shop', skewMs };
    const own = await RunningBroker.start({ merchant: { lifetimeMs: 900_000 }, faults: [fault] });
    try {
      const { expiresAt } = await sessionOf(await own.get(PATH, { prefer: 'wait=5' }));
      const leftMs = Date.parse(expiresAt) - new SystemClock().now();
      expect(leftMs).toBeGreaterThan(890_000);
      expect(leftMs).toBeLessThanOrEqual(900_000);
    } finally {
      await own.close();
    }
  });

  it('believes no session to live longer than a day', async () => {
    const own = await RunningBroker.start({ merchant: { lifetimeMs: 10 * 86_400_000 } });
    try {
      const { createdAt, expiresAt } = await sessionOf(await own.get(PATH, { prefer: 'wait=5' }));
      expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBeLessThanOrEqual(86_400_000);
    } finally {
      await own.close();
    }
  });

  it('does not replace a session that was just created, however much is wanted', async () => {
    const own = await RunningBroker.start({ merchant: { lifetimeMs: 20_000 } });
    try {
      const first = await sessionOf(await own.get(PATH, { prefer: 'wait=5' }));
      const young = await sessionOf(await own.get(`${PATH}?minRemaining=30s`));
      expect(young.generation).toBe(first.generation);
      expect(await own.createCalls()).toBe(2);
    } finally {
      await own.close();
    }
  });

  it.each([
    '?minRemaining=',
    '?minRemaining=60',
    '?minRemaining=-1s',
    '?minRemaining=2h',
    '?minRemaining=1s&minRemaining=2s',
    '?minremaining=60s',
    '?force=true',
  ])('refuses the query %s', async (query) => {
    const response = await broker.get(PATH + query);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'invalid_request',
      detail: expect.stringContaining('minRemaining'),
    });
  });

  it('lists the merchants of the caller without any secret', async () => {
    const response = await broker.get('/v1/merchants');
    const body = await response.text();
    expect(JSON.parse(body)).toEqual({
      merchants: [
        {
          id: 'shop',
          state: 'fresh',
          reason: 'current',
          renewing: false,
          generation: expect.any(Number),
          expiresAt: expect.any(String),
          renewAt: expect.any(String),
        },
      ],
    });
    expect(body).not.toContain((await sessionOf(await broker.get(PATH))).authToken);
    const everything = (await (await broker.get('/v1/merchants', {}, TOKENS.admin)).json()) as { merchants: unknown[] };
    expect(everything.merchants).toHaveLength(2);
  });

  it('gives the public client key to hand to the bank', async () => {
    const response = await broker.get('/v1/merchants/shop/client-key');
    expect(await response.json()).toEqual({
      merchant: 'shop',
      jwk: { kty: 'EC', crv: 'P-384', use: 'enc', alg: 'ECDH-ES+A256KW', x: expect.any(String), y: expect.any(String) },
      thumbprint: broker.thumbprint,
    });
  });
});

describe('waiting for a session', () => {
  it('holds the request until the session changes', async () => {
    const broker = await RunningBroker.start({ merchant: { lifetimeMs: 4_000 }, timeout: '500ms' });
    try {
      const first = await broker.get(PATH, { prefer: 'wait=5' });
      const etag = first.headers.get('etag') ?? '';
      const next = await broker.get(PATH, { 'if-none-match': etag, prefer: 'wait=10' });
      expect(next.status).toBe(200);
      expect(next.headers.get('preference-applied')).toBe('wait=10');
      const [before, after] = [await sessionOf(first), await sessionOf(next)];
      expect(after.generation).toBeGreaterThan(before.generation);
      expect(Date.parse(before.expiresAt)).toBeGreaterThan(Date.now());
    } finally {
      await broker.close();
    }
  });

  it('answers 304 when the time is up', async () => {
    const broker = await RunningBroker.start();
    try {
      const etag = (await broker.get(PATH, { prefer: 'wait=5' })).headers.get('etag') ?? '';
      const response = await broker.get(PATH, { 'if-none-match': etag, prefer: 'wait=1' });
      expect(response.status).toBe(304);
    } finally {
      await broker.close();
    }
  });

  it('gets the first session that comes, through failures of the gateway', async () => {
    const broker = await RunningBroker.start({ faults: [{ kind: 'error', merchant: 'shop', times: 1 }] });
    try {
      const response = await broker.get(PATH, { prefer: 'wait=20' });
      expect(response.status).toBe(200);
    } finally {
      await broker.close();
    }
  });

  it('is answered at once when the replica shuts down', async () => {
    const broker = await RunningBroker.start();
    const etag = (await broker.get(PATH, { prefer: 'wait=5' })).headers.get('etag') ?? '';
    const held = broker.get(PATH, { 'if-none-match': etag, prefer: 'wait=60' });
    // The list is answered after the held request has been accepted on its own connection.
    await broker.get('/v1/merchants');
    await broker.close();
    expect((await held).status).toBe(304);
  });
});

describe('when there is no session', () => {
  let broker: RunningBroker;

  beforeAll(async () => {
    broker = await RunningBroker.start({ faults: [{ kind: 'error', merchant: 'shop', msgCode: 'b_overload_error' }] });
  });
  afterAll(() => broker.close());

  it('refuses with 503, says why and when to ask again, and tells nothing of the inside', async () => {
    const response = await broker.get(PATH);
    expect(response.status).toBe(503);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(await response.json()).toEqual({
      type: 'urn:session-broker:problem:session_unavailable',
      title: 'There is no session to serve at the moment',
      status: 503,
      code: 'session_unavailable',
      reason: 'transient',
      detail: 'The gateway failed in a way that usually passes',
      requestId: response.headers.get('x-request-id'),
    });
  });

  it('shows the last failure in the list of merchants', async () => {
    await broker.get(PATH);
    const { merchants } = (await (await broker.get('/v1/merchants')).json()) as { merchants: unknown[] };
    expect(merchants).toEqual([
      {
        id: 'shop',
        state: 'unavailable',
        reason: 'no_session',
        renewing: expect.any(Boolean),
        lastFailure: { kind: 'transient', msgCode: 'b_overload_error', at: expect.any(String) },
      },
    ]);
  });

  it('is alive but not ready', async () => {
    expect((await fetch(`${broker.managementUrl}/livez`)).status).toBe(200);
    const ready = await fetch(`${broker.managementUrl}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({
      ready: false,
      shuttingDown: false,
      missing: ['shop'],
      store: 'answers',
      storeReached: true,
    });
  });

  it('costs one create call per back-off, however many ask', async () => {
    await Promise.all(Array.from({ length: 50 }, () => broker.get(PATH)));
    const calls = (await broker.control('GET', '/calls?operation=authorize&merchant=shop')) as { matching: number };
    expect(calls.matching).toBeLessThanOrEqual(4);
  });
});
