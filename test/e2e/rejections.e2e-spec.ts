import { RunningBroker, TOKENS } from './running-broker.js';

const SESSION = '/v1/merchants/shop/session';
const REJECTIONS = `${SESSION}/rejections`;

interface SessionBody {
  readonly generation: number;
  readonly authToken: string;
}

const sessionOf = async (response: Response): Promise<SessionBody> => (await response.json()) as SessionBody;

describe('rejecting a session', () => {
  let broker: RunningBroker;
  let held: SessionBody;

  beforeEach(async () => {
    broker = await RunningBroker.start();
    held = await sessionOf(await broker.get(SESSION, { prefer: 'wait=5' }));
  });
  afterEach(() => broker.close());

  const createCalls = async (): Promise<number> => {
    const calls = await broker.control('GET', '/calls?operation=authorize&merchant=shop');
    return (calls as { matching: number }).matching;
  };

  it('costs one create call when a thousand report it at once, and all get the same newer session', async () => {
    const reports = Array.from({ length: 1_000 }, async () =>
      sessionOf(await broker.post(REJECTIONS, { generation: held.generation, reason: 'b_expired_token' })),
    );
    const answers = await Promise.all(reports);
    expect(new Set(answers.map(({ generation }) => generation)).size).toBe(1);
    expect(new Set(answers.map(({ authToken }) => authToken)).size).toBe(1);
    expect(answers[0]?.generation).toBeGreaterThan(held.generation);
    expect(await createCalls()).toBe(2);
  }, 30_000);

  it('gives the newer session in the one shape of a session, not to be kept by anybody on the way', async () => {
    const response = await broker.post(REJECTIONS, { generation: held.generation });
    const session = await sessionOf(response);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('etag')).toBe(`"${session.generation}"`);
    expect(session).toEqual(await sessionOf(await broker.get(SESSION)));
  });

  it('gives what is newer already without another call', async () => {
    const newer = await sessionOf(await broker.post(REJECTIONS, { generation: held.generation }));
    const again = await sessionOf(await broker.post(REJECTIONS, { generation: held.generation }));
    expect(again).toEqual(newer);
    expect(await createCalls()).toBe(2);
  });

  it('is refused for the rest of the cool-down when the newer one is rejected as well', async () => {
    const { generation } = await sessionOf(await broker.post(REJECTIONS, { generation: held.generation }));
    const response = await broker.post(REJECTIONS, { generation });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: 'session_unavailable' });
    const retryAfter = Number(response.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThanOrEqual(1);
    expect(retryAfter).toBeLessThanOrEqual(10);
    expect(await createCalls()).toBe(2);
  });

  it('creates nothing for generations that never were', async () => {
    for (const generation of [held.generation + 1, held.generation + 1e9, Number.MAX_SAFE_INTEGER]) {
      const response = await broker.post(REJECTIONS, { generation });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        code: 'invalid_request',
        detail: 'generation: no session of this generation was issued',
      });
    }
    expect(await createCalls()).toBe(1);
  });

  it('wants the permission to do so', async () => {
    const asReader = { authorization: `Bearer ${TOKENS.checkout}` };
    const response = await broker.post(REJECTIONS, { generation: held.generation }, asReader);
    expect(response.status).toBe(403);
    const hidden = await broker.post('/v1/merchants/hidden/session/rejections', { generation: held.generation });
    expect(hidden.status).toBe(403);
    expect(await createCalls()).toBe(1);
  });

  it('logs who reported it and why, once', async () => {
    await broker.post(REJECTIONS, { generation: held.generation, reason: 'b_used_token' });
    await broker.post(REJECTIONS, { generation: held.generation, reason: 'b_used_token' });
    const warnings = broker.lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ event, level }) => event === 'session_rejected' && level !== 'debug');
    expect(warnings).toEqual([
      expect.objectContaining({ reason: 'b_used_token', consumer: 'payments', generation: held.generation }),
    ]);
  });

  it('is bounded for each caller, who is told when to come again; reads are not', async () => {
    await broker.close();
    broker = await RunningBroker.start({ http: 'rateLimit: { perSecond: 1, burst: 2 }' });
    const { generation } = await sessionOf(await broker.get(SESSION, { prefer: 'wait=5' }));
    const answers = [];
    for (let count = 0; count < 3; count += 1) answers.push(await broker.post(REJECTIONS, { generation }));
    const last = answers.at(-1);
    expect(last?.status).toBe(429);
    expect(last?.headers.get('retry-after')).toBe('1');
    expect(await last?.json()).toMatchObject({ code: 'rate_limited' });
    const other = await broker.post(
      '/v1/merchants/shop/payloads/encrypt',
      { plaintext: 'x' },
      { authorization: `Bearer ${TOKENS.reporting}` },
    );
    expect(other.status).toBe(200);
    for (let count = 0; count < 5; count += 1) expect((await broker.get(SESSION)).status).toBe(200);
  });

  const table: Record<string, [body: unknown, status: number, detail: RegExp | undefined]> = {
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
    'a reason that is no text': [{ generation: 1, reason: { toString: 1 } }, 400, /^reason: /],
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
    const response = await broker.post(REJECTIONS, body);
    const problem = (await response.json()) as { detail?: string };
    expect([response.status, response.headers.get('content-type')]).toEqual([
      status,
      'application/problem+json; charset=utf-8',
    ]);
    if (detail !== undefined) expect(problem.detail).toMatch(detail);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'multipart/form-data; boundary=x'])(
    'refuses a body of the type %s',
    async (type) => {
      const response = await broker.post(REJECTIONS, '{"generation":1}', { 'content-type': type });
      expect(response.status).toBe(415);
      expect(await response.json()).toMatchObject({ code: 'unsupported_media_type' });
    },
  );
});
