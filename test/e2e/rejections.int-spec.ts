import type { Test } from 'supertest';
import { endedAfterAll, endedAfterEach } from '#libs/testing';
import { problem, RunningBroker, TOKENS } from './running-broker.js';

const SESSION = '/v1/merchants/shop/session';
const REJECTIONS = `${SESSION}/rejections`;

interface SessionBody {
  readonly generation: number;
  readonly authToken: string;
}

const heldBy = async (broker: RunningBroker): Promise<SessionBody> =>
  (await (await broker.get(SESSION, { prefer: 'wait=60' })).json()) as SessionBody;

describe('rejecting a session', () => {
  let broker: RunningBroker;
  const started = endedAfterAll();
  beforeAll(async () => {
    broker = started.add(await RunningBroker.start(), (it) => it.close());
  });
  const report = (body: object | string): Test => broker.as(TOKENS.payments).post(REJECTIONS).type('json').send(body);

  it('costs one create call in all: two hundred reports at once, one too late, one of nothing that was issued, and one too soon', async () => {
    const held = await heldBy(broker);
    const body = { generation: held.generation, reason: 'b_used_token' };
    const reports = Array.from({ length: 200 }, async () => (await broker.post(REJECTIONS, body)).json());
    const answers = (await Promise.all(reports)) as SessionBody[];
    const [newer] = answers;
    expect(newer?.generation).toBeGreaterThan(held.generation);
    expect(new Set(answers.map(({ generation }) => generation)).size).toBe(1);
    expect(new Set(answers.map(({ authToken }) => authToken)).size).toBe(1);
    for (const generation of [held.generation, (newer?.generation ?? 0) + 1, Number.MAX_SAFE_INTEGER])
      expect((await report({ generation }).expect(200)).body).toMatchObject({ authToken: newer?.authToken });
    const refused = report({ generation: newer?.generation, reason: 'b_used_token' }).expect(503);
    const { headers } = await refused.expect(problem('foreign_authorizer'));
    expect(Number((headers as Record<string, string>)['retry-after'])).toBeGreaterThan(300);
    const calls = await broker.control('GET', '/calls?operation=authorize&merchant=shop');
    expect(calls).toMatchObject({ matching: 2 });
  });

  it('is logged once, with who reported it and why', async () => {
    const warnings = broker.lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ event, level }) => event === 'session_rejected' && level !== 'debug');
    const [first] = warnings;
    expect(first).toMatchObject({ reason: 'b_used_token', consumer: 'payments', generation: expect.any(Number) });
    expect(warnings.filter(({ generation }) => generation === first?.['generation'])).toHaveLength(1);
  });

  const table: Record<string, [body: object | string, detail?: RegExp]> = {
    'a fraction': [{ generation: 1.5 }, /^generation: must be a whole number/],
    'a generation beyond what numbers can tell apart': ['{"generation":9007199254740993}', /^generation: /],
    'an unknown member': [{ generation: 1, force: true }, /^force: is not a known member$/],
    'an unknown member with a strange name': [{ generation: 1, 'a\nb"<script>': 1 }, /^there is a member/],
    'a reason with a line break': [{ generation: 1, reason: 'a\nb' }, /^reason: must be 1 to 64/],
    'a prototype': ['{"generation":1,"__proto__":{"reason":"x"}}'],
    'a list': [[{ generation: 1 }], /^the body must be a JSON object$/],
  };

  it.each(Object.entries(table))('takes no report with %s', async (_name, [body, detail]) => {
    const answer = await report(body).expect(400);
    if (detail !== undefined) expect(answer.body).toMatchObject({ detail: expect.stringMatching(detail) });
  });
});

/** Nothing but a person asks again before its time is up. */
const NOT_NOW = { kind: 'error', status: 503, retryAfter: '300', msgCode: 'b_overload_error', merchant: 'shop' };

describe('a renewal that a person wants', () => {
  const started = endedAfterEach();

  it('brings a merchant back that the bank had put off and has repaired, and tells nothing secret', async () => {
    const broker = started.add(await RunningBroker.start({ faults: [NOT_NOW] }), (it) => it.close());
    const renew = (): Test => broker.as(TOKENS.oncall).post(`${SESSION}/renewal`);
    await broker.as(TOKENS.payments).get(SESSION).expect(503);
    const { body: listed } = await broker.as(TOKENS.payments).get('/v1/merchants').expect(200);
    expect(listed).toMatchObject({ merchants: [{ lastFailure: { kind: 'transient', msgCode: 'b_overload_error' } }] });
    await renew()
      .expect(503)
      .expect(problem('session_unavailable'))
      .expect('retry-after', /^\d{3}$/);
    await broker.control('DELETE', '/faults');
    // A program may name a type for a body that it does not send.
    const asked = renew().set('content-type', 'application/x-www-form-urlencoded').set('content-length', '0');
    const { body } = await asked.expect(200);
    const { body: session } = await broker.as(TOKENS.payments).get(SESSION).expect(200);
    const { merchant, generation, clientKeyThumbprint, createdAt, expiresAt, renewAt } = session as Record<
      string,
      unknown
    >;
    const told = { merchant, generation, clientKeyThumbprint, createdAt, expiresAt, renewAt };
    expect(body).toEqual({ ...told, result: 'renewed' });
  });
});
