import type { Test } from './http-request.js';
import { endedAfterEach } from '#libs/testing';
import { problem, RunningBroker, TOKENS } from './running-broker.js';

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
    held = await session().set('prefer', 'wait=5').then(sessionOf);
  });

  const session = (): Test => broker.as(TOKENS.payments).get(SESSION).expect(200);
  const report = (body: object | string, token: string = TOKENS.payments): Test =>
    broker.as(token).post(REJECTIONS).type('json').send(body);
  const sessionOf = ({ body }: { readonly body: unknown }): SessionBody => body as SessionBody;
  const createCalls = async (): Promise<number> => {
    const calls = await broker.control('GET', '/calls?operation=authorize&merchant=shop');
    return (calls as { matching: number }).matching;
  };

  it('costs one create call when a thousand report it at once, and all get the same newer session', async () => {
    const body = { generation: held.generation, reason: 'b_expired_token' };
    const reports = Array.from({ length: 1_000 }, async () => (await broker.post(REJECTIONS, body)).json());
    const answers = (await Promise.all(reports)) as SessionBody[];
    expect(new Set(answers.map(({ generation }) => generation)).size).toBe(1);
    expect(new Set(answers.map(({ authToken }) => authToken)).size).toBe(1);
    expect(answers[0]?.generation).toBeGreaterThan(held.generation);
    expect(await createCalls()).toBe(2);
  });

  it('gives the newer session in the one shape of a session, not to be kept by anybody on the way', async () => {
    const response = await report({ generation: held.generation })
      .expect(200)
      .expect('content-type', 'application/json; charset=utf-8')
      .expect('cache-control', 'no-store');
    expect(response.headers['etag']).toBe(`"${sessionOf(response).generation}"`);
    await session().expect(200, sessionOf(response));
  });

  it('gives what is already newer without another call', async () => {
    const newer = await report({ generation: held.generation }).expect(200);
    await report({ generation: held.generation }).expect(200, newer.body);
    expect(await createCalls()).toBe(2);
  });

  it('is held back when the newer one is rejected as well: somebody else must have created', async () => {
    const { generation } = await report({ generation: held.generation }).then(sessionOf);
    const { headers, body } = await report({ generation }).expect(503).expect(problem('foreign_authorizer'));
    expect(body).toMatchObject({
      cause: expect.stringContaining('somebody else creates sessions of the merchant, and each ends ours') as string,
    });
    const retryAfter = Number(headers['retry-after']);
    expect(retryAfter).toBeGreaterThan(590);
    expect(retryAfter).toBeLessThanOrEqual(600);
    expect(await createCalls()).toBe(2);
  });

  it('creates nothing for generations that never existed', async () => {
    for (const generation of [held.generation + 1, held.generation + 1e9, Number.MAX_SAFE_INTEGER]) {
      const { body } = await report({ generation }).expect(400);
      expect(body).toMatchObject({
        code: 'invalid_request',
        detail: 'generation: no session of this generation was issued',
      });
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
    const { generation } = await session().set('prefer', 'wait=5').then(sessionOf);
    for (let count = 0; count < 2; count += 1) await report({ generation });
    const limited = await report({ generation }).expect(429).expect('retry-after', '1').expect(problem('rate_limited'));
    expect(limited.body).toMatchObject({ detail: expect.stringContaining('of a caller are counted; reads are not') });
    const encrypt = '/v1/merchants/shop/payloads/encrypt';
    await broker.as(TOKENS.reporting).post(encrypt).send({ plaintext: 'x' }).expect(200);
    for (let count = 0; count < 5; count += 1) await session();
  });

  const table: Record<string, [body: object | string, status: number, detail: RegExp | undefined]> = {
    'no generation': [{}, 400, /^generation: must be a whole number/],
    'a generation of zero': [{ generation: 0 }, 400, /^generation: /],
    'a negative generation': [{ generation: -1 }, 400, /^generation: /],
    'a fraction': [{ generation: 1.5 }, 400, /^generation: /],
    'a generation beyond what numbers can tell apart': ['{"generation":9007199254740993}', 400, /^generation: /],
    'an infinite generation': ['{"generation":1e400}', 400, /^generation: /],
    'a generation as text': [{ generation: '1' }, 400, /^generation: /],
    'a generation in a list': [{ generation: [1] }, 400, /^generation: /],
    'nothing for a generation': [{ generation: null }, 400, /^generation: /],
    'an unknown member': [{ generation: 1, force: true }, 400, /^force: is not a known member$/],
    'an unknown member with a strange name': [{ generation: 1, 'a\nb"<script>': 1 }, 400, /^there is a member/],
    'a reason with a line break': [{ generation: 1, reason: 'a\nb' }, 400, /^reason: must be 1 to 64/],
    'a reason that is too long': [{ generation: 1, reason: 'a'.repeat(65) }, 400, /^reason: /],
    'an empty reason': [{ generation: 1, reason: '' }, 400, /^reason: /],
    'a reason that is not text': [{ generation: 1, reason: { toString: 1 } }, 400, /^reason: /],
    'no reason at all': [{ generation: 1, reason: null }, 400, /^reason: /],
    'a prototype': ['{"generation":1,"__proto__":{"reason":"x"}}', 400, undefined],
    'a list': [[{ generation: 1 }], 400, /^the body must be a JSON object$/],
    'a text': ['"generation"', 400, /^the body must be a JSON object$/],
    nothing: ['null', 400, /^the body must be a JSON object$/],
    'an empty body': ['', 400, undefined],
    'half a body': ['{"generation":', 400, undefined],
    'a body that is too large': [{ generation: 1, reason: 'a'.repeat(140_000) }, 413, undefined],
  };

  it.each(Object.entries(table))('refuses %s', async (_name, [body, status, detail]) => {
    const answer = await report(body).expect(status).expect('content-type', 'application/problem+json; charset=utf-8');
    if (detail !== undefined) expect(answer.body).toMatchObject({ detail: expect.stringMatching(detail) });
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'multipart/form-data; boundary=x'])(
    'refuses a body of the type %s',
    async (type) => {
      const { body } = await report('{"generation":1}')
        .type(type)
        .expect(415)
        .expect(problem('unsupported_media_type'));
      expect(body).toMatchObject({ detail: 'send Content-Type: application/json' });
    },
  );
});
