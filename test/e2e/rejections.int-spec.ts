import type { Test } from 'supertest';
import { endedAfterAll, endedAfterEach } from '#libs/testing';
import { problem, RunningBroker, TOKENS } from './running-broker.js';
import { TIME_PASSES } from './session-document.js';

const SESSION = '/v1/merchants/shop/session';
const REJECTIONS = `${SESSION}/rejections`;

interface SessionBody {
  readonly generation: number;
  readonly authToken: string;
}

describe('rejecting a session', () => {
  let broker: RunningBroker;
  let held: SessionBody;

  const started = endedAfterEach();
  beforeEach(async () => {
    broker = started.add(await RunningBroker.start(), (it) => it.close());
    held = await session().set('prefer', 'wait=60').then(sessionOf);
  });

  const session = (): Test => broker.as(TOKENS.payments).get(SESSION).expect(200);
  const report = (body: object | string, token: string = TOKENS.payments): Test =>
    broker.as(token).post(REJECTIONS).type('json').send(body);
  const sessionOf = ({ body }: { readonly body: unknown }): SessionBody => body as SessionBody;
  const createCalls = async (): Promise<number> => {
    const calls = await broker.control('GET', '/calls?operation=authorize&merchant=shop');
    return (calls as { matching: number }).matching;
  };

  it('costs one create call when two hundred report it at once, and all get the same newer session', async () => {
    const body = { generation: held.generation, reason: 'b_expired_token' };
    const reports = Array.from({ length: 200 }, async () => (await broker.post(REJECTIONS, body)).json());
    const answers = (await Promise.all(reports)) as SessionBody[];
    expect(new Set(answers.map(({ generation }) => generation)).size).toBe(1);
    expect(new Set(answers.map(({ authToken }) => authToken)).size).toBe(1);
    expect(answers[0]?.generation).toBeGreaterThan(held.generation);
    expect(await createCalls()).toBe(2);
  });

  it('is held back when the newer one is rejected as well: somebody else must have created', async () => {
    const { generation } = await report({ generation: held.generation, reason: 'b_used_token' }).then(sessionOf);
    const { headers, body } = await report({ generation, reason: 'b_used_token' })
      .expect(503)
      .expect(problem('foreign_authorizer'));
    expect(body).toMatchObject({
      cause: 'Payments fail: somebody else creates sessions with the bank, and each ends ours',
    });
    const retryAfter = Number(headers['retry-after']);
    expect(retryAfter).toBeGreaterThan(300);
    expect(retryAfter).toBeLessThanOrEqual(600);
    expect(await createCalls()).toBe(2);
  });

  it('gives what is already newer without another call', async () => {
    const newer = sessionOf(await report({ generation: held.generation }).expect(200));
    const again = sessionOf(await report({ generation: held.generation }).expect(200));
    expect(again).toMatchObject({ ...newer, ...TIME_PASSES });
    expect(await createCalls()).toBe(2);
  });

  it('creates nothing for generations that never existed', async () => {
    for (const generation of [held.generation + 1, held.generation + 1e9, Number.MAX_SAFE_INTEGER]) {
      expect(sessionOf(await report({ generation }).expect(200)).generation).toBe(held.generation);
    }
    expect(await createCalls()).toBe(1);
  });

  it('needs the permission to do so', async () => {
    const body = { generation: held.generation };
    await report(body, TOKENS.checkout).expect(403);
    await broker.as(TOKENS.payments).post('/v1/merchants/hidden/session/rejections').send(body).expect(403);
    expect(await createCalls()).toBe(1);
  });

  it('logs who reported it and why, once', async () => {
    await report({ generation: held.generation, reason: 'b_used_token' });
    await report({ generation: held.generation, reason: 'b_used_token' });
    const warnings = broker.lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ event, level }) => event === 'session_rejected' && level !== 'debug');
    expect(warnings).toEqual([
      expect.objectContaining({ reason: 'b_used_token', consumer: 'payments', generation: held.generation }),
    ]);
  });

  it('is bounded for each caller, who is told when to come again; reads are not', async () => {
    await broker.close();
    const http = 'rateLimit: { perSecond: 1, burst: 2 }';
    broker = started.add(await RunningBroker.start({ http }), (it) => it.close());
    const { generation } = await session().set('prefer', 'wait=60').then(sessionOf);
    // As many at once as leave in no second that one more is let in.
    const reports = await Promise.all(Array.from({ length: 60 }, () => report({ generation })));
    const limited = reports.find(({ status }) => status === 429);
    expect(limited?.headers).toMatchObject({ 'retry-after': '1' });
    expect(limited?.body).toMatchObject({
      code: 'rate_limited',
      detail: expect.stringContaining('of a caller are counted; reads are not'),
    });
    const encrypt = '/v1/merchants/shop/payloads/encrypt';
    await broker.as(TOKENS.reporting).post(encrypt).send({ plaintext: 'x' }).expect(200);
    for (let count = 0; count < 5; count += 1) await session();
  });
});

describe('a report that is none', () => {
  let broker: RunningBroker;
  const started = endedAfterAll();
  beforeAll(async () => {
    broker = started.add(await RunningBroker.start(), (it) => it.close());
  });
  const report = (body: object | string): Test => broker.as(TOKENS.payments).post(REJECTIONS).type('json').send(body);

  const table: Record<string, [body: object | string, detail?: RegExp]> = {
    'no generation': [{}, /^generation: must be a whole number/],
    'a fraction': [{ generation: 1.5 }, /^generation: /],
    'a generation beyond what numbers can tell apart': ['{"generation":9007199254740993}', /^generation: /],
    'an unknown member': [{ generation: 1, force: true }, /^force: is not a known member$/],
    'an unknown member with a strange name': [{ generation: 1, 'a\nb"<script>': 1 }, /^there is a member/],
    'a reason with a line break': [{ generation: 1, reason: 'a\nb' }, /^reason: must be 1 to 64/],
    'a prototype': ['{"generation":1,"__proto__":{"reason":"x"}}'],
    'a list': [[{ generation: 1 }], /^the body must be a JSON object$/],
  };

  it.each(Object.entries(table))('refuses %s', async (_name, [body, detail]) => {
    const answer = await report(body).expect(400).expect('content-type', 'application/problem+json; charset=utf-8');
    if (detail !== undefined) expect(answer.body).toMatchObject({ detail: expect.stringMatching(detail) });
  });

  it('refuses a body that is not called JSON, and says what to call it', async () => {
    const asked = report('{"generation":1}').type('text/plain').expect(415).expect(problem('unsupported_media_type'));
    expect((await asked).body).toMatchObject({ detail: 'send Content-Type: application/json' });
  });
});

const RENEWAL = `${SESSION}/renewal`;
/** Nothing but a person asks again before its time is up. */
const NOT_NOW = {
  kind: 'error',
  status: 503,
  retryAfter: '300',
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

  it('brings a merchant back that the bank had put off and has repaired, and tells nothing secret', async () => {
    await start({ faults: [NOT_NOW] });
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
});
