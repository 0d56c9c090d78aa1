import { endedAfterAll, endedAfterEach } from '#libs/testing';
import { type Answer, bodyOf, call, problem } from './call.js';
import { RunningBroker, TOKENS } from './running-broker.js';

const SESSION = '/v1/merchants/shop/session';
const REJECTIONS = `${SESSION}/rejections`;

interface SessionBody {
  readonly generation: number;
  readonly authToken: string;
}

describe('rejecting a session', () => {
  let broker: RunningBroker;
  const started = endedAfterAll();
  beforeAll(async () => {
    broker = started.add(await RunningBroker.start(), (it) => it.close());
  });
  const report = (body: object | string): Promise<Answer> => broker.post(REJECTIONS, body);

  it('costs one create call in all: two hundred reports at once, one too late, one of nothing that was issued, and one too soon', async () => {
    const held = await broker.get(SESSION, { prefer: 'wait=60' }).then(bodyOf<SessionBody>);
    const body = { generation: held.generation, reason: 'b_used_token' };
    const reports = Array.from({ length: 200 }, () => report(body).then(bodyOf<SessionBody>));
    const answers = await Promise.all(reports);
    const [newer] = answers;
    expect(newer?.generation).toBeGreaterThan(held.generation);
    expect(new Set(answers.map(({ generation }) => generation)).size).toBe(1);
    expect(new Set(answers.map(({ authToken }) => authToken)).size).toBe(1);
    for (const generation of [held.generation, (newer?.generation ?? 0) + 1, Number.MAX_SAFE_INTEGER])
      expect(await report({ generation }).then(bodyOf)).toMatchObject({ authToken: newer?.authToken });
    const refused = await report({ generation: newer?.generation, reason: 'b_used_token' });
    expect(refused).toMatchObject(problem(503, 'foreign_authorizer'));
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(300);
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
    const answer = await report(body);
    expect(answer.status).toBe(400);
    if (detail !== undefined) expect(answer.body).toMatchObject({ detail: expect.stringMatching(detail) });
  });
});

/** Nothing but a person asks again before its time is up. */
const NOT_NOW = { kind: 'error', status: 503, retryAfter: '300', msgCode: 'b_overload_error', merchant: 'shop' };

describe('a renewal that a person wants', () => {
  const started = endedAfterEach();

  it('brings a merchant back that the bank had put off and has repaired, and tells nothing secret', async () => {
    const broker = started.add(await RunningBroker.start({ faults: [NOT_NOW] }), (it) => it.close());
    const renew = (type: Record<string, string> = {}): Promise<Answer> => {
      const headers = { authorization: `Bearer ${TOKENS.oncall}`, ...type };
      return call(`${broker.url}${SESSION}/renewal`, { method: 'POST', headers });
    };
    expect((await broker.get(SESSION)).status).toBe(503);
    expect(await broker.get('/v1/merchants').then(bodyOf)).toMatchObject({
      merchants: [{ lastFailure: { kind: 'transient', msgCode: 'b_overload_error' } }],
    });
    const refused = await renew();
    expect(refused).toMatchObject(problem(503, 'session_unavailable'));
    expect(refused.headers['retry-after']).toMatch(/^\d{3}$/);
    await broker.control('DELETE', '/faults');
    // A program may name a type for a body that it does not send.
    const renewed = await renew({ 'content-type': 'application/x-www-form-urlencoded' }).then(bodyOf);
    const session = await broker.get(SESSION).then(bodyOf);
    const { merchant, generation, clientKeyThumbprint, createdAt, expiresAt, renewAt } = session;
    const told = { merchant, generation, clientKeyThumbprint, createdAt, expiresAt, renewAt };
    expect(renewed).toEqual({ ...told, result: 'renewed' });
  });
});
