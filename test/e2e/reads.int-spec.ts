import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Response, Test } from 'supertest';
import { generateClientKey } from '#libs/jwe';
import { endedAfterAll, endedAfterEach, eventually } from '#libs/testing';
import { RunningBroker, TOKENS } from './running-broker.js';

const SESSION = '/v1/merchants/shop/session';
const HEADERS = `${SESSION}/headers`;
const EXT_AUTHZ = `${HEADERS}/ext_authz`;
/** Makes a read go through the framework. */
const BY_THE_FRAMEWORK = '?minRemaining=1ms';

interface ServedSession {
  readonly generation: number;
  readonly authToken: string;
  readonly deviceId: string;
  readonly refreshToken: string;
}

/** What two answers to the same request have in common. */
function comparable({ status, headers, text: said }: Response): object {
  const { date: _date, 'x-request-id': id, 'cache-control': cache, ...rest } = headers as Record<string, string>;
  const ownId = id === 'mine-1' ? id : (id ?? '').length;
  return { status, rest, ownId, cache: cache?.split('=')[0], said: said.replace(/InMs":\d+/g, '') };
}

describe('reading a session', () => {
  let broker: RunningBroker;
  let session: ServedSession;
  const ask = (path: string, headers: Record<string, string> = {}): Test =>
    broker.as(TOKENS.checkout).get(path).set(headers);

  const started = endedAfterAll();
  beforeAll(async () => {
    broker = started.add(await RunningBroker.start(), (it) => it.close());
    const { body } = await ask(SESSION, { prefer: 'wait=60' }).expect(200);
    session = body as ServedSession;
  });

  it('gives the same answer before the framework and through it', async () => {
    const etag = `"${session.generation}"`;
    for (const headers of [{}, { 'if-none-match': etag }, { 'if-none-match': '"1"' }, { 'x-request-id': 'mine-1' }]) {
      const [early, late] = [await ask(SESSION, headers), await ask(SESSION + BY_THE_FRAMEWORK, headers)];
      expect(comparable(early)).toEqual(comparable(late));
    }
  });

  it('gives a proxy the headers of the session either way, whatever it copies of its client', async () => {
    const copied = {
      'if-none-match': `"${session.generation}"`,
      prefer: 'wait=60',
      range: 'bytes=0-1',
      'content-type': 'text/plain',
      'x-device_id': 'forged',
      'x-forwarded-uri': '/v1/merchants/hidden/session',
    };
    for (const path of [HEADERS, EXT_AUTHZ]) {
      const [early, late] = [await ask(path, copied), await ask(path + BY_THE_FRAMEWORK, copied)];
      expect(comparable(early)).toEqual(comparable(late));
      expect(early.headers).toMatchObject({ 'x-device_id': session.deviceId, 'x-refresh_token': session.refreshToken });
    }
  });

  it('gives Envoy the headers by the method and behind the path of a payment', async () => {
    const path = `${EXT_AUTHZ}/ecom/execute_request/hpp/v1/create-order?minRemaining=never`;
    const asked = broker.as(TOKENS.checkout).post(path).set('content-length', '0');
    await asked.expect(200, '').expect('x-device_id', session.deviceId);
  });

  it.each(['', BY_THE_FRAMEWORK])(
    'gives them without a wait for a body, and ends its connection: %s',
    async (query) => {
      const socket = connect(Number(new URL(broker.url).port), '127.0.0.1');
      const length = 'Content-Type: application/json\r\nContent-Length: 9000000';
      socket.write(
        `POST ${EXT_AUTHZ}${query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKENS.checkout}\r\n${length}\r\n\r\n{`,
      );
      const answer = await text(socket);
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
      expect(answer).toMatch(/^connection: close\r$/im);
    },
  );

  it.each(['?minRemaining=60', '?minRemaining=2h', '?minRemaining=1s&minRemaining=2s', '?force=true'])(
    'refuses the query %s',
    async (query) => {
      const { body } = await ask(SESSION + query).expect(400);
      expect(body).toMatchObject({ code: 'invalid_request', detail: expect.stringContaining('minRemaining') });
    },
  );

  it('lists the merchants of its caller, and no others', async () => {
    const listed = async (token: string): Promise<string[]> => {
      const { body } = await broker.as(token).get('/v1/merchants').expect(200);
      return (body as { merchants: { id: string }[] }).merchants.map(({ id }) => id);
    };
    expect([await listed(TOKENS.checkout), await listed(TOKENS.admin)]).toEqual([['shop'], ['shop', 'hidden']]);
  });

  it('leaves no secret in the log', () => {
    const log = broker.lines.join('');
    for (const secret of [session.authToken, session.deviceId, session.refreshToken]) expect(log).not.toContain(secret);
  });
});

interface Page {
  readonly merchants: readonly [{ readonly cause?: { readonly text: string; readonly remedy: string } }];
}

describe('a merchant without a session', () => {
  let broker: RunningBroker;
  const started = endedAfterEach();
  const start = async (setUp: Parameters<typeof RunningBroker.start>[0]): Promise<void> => {
    broker = started.add(await RunningBroker.start(setUp), (it) => it.close());
  };
  const listed = async (): Promise<{ readonly cause?: string }> => {
    const { body } = await broker.as(TOKENS.checkout).get('/v1/merchants').expect(200);
    return (body as { merchants: [{ cause?: string }] }).merchants[0];
  };

  it('is refused with 503, and why and when to ask again is all that is told of the inside', async () => {
    await start({ faults: [{ kind: 'error', merchant: 'shop', msgCode: 'b_overload_error' }] });
    const { body, headers } = await broker.as(TOKENS.checkout).get(SESSION).expect(503);
    const cause = 'Payments fail: the bank reports a fault of its own: b_overload_error';
    expect(Number((headers as Record<string, string>)['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(body).toEqual({
      type: 'urn:session-broker:problem:session_unavailable',
      title: 'There is no session to serve at the moment',
      status: 503,
      code: 'session_unavailable',
      reason: 'transient',
      detail: 'The gateway failed in a way that usually passes',
      cause,
      requestId: (headers as Record<string, string>)['x-request-id'],
    });
    expect(await listed()).toEqual({
      id: 'shop',
      state: 'unavailable',
      reason: 'no_session',
      condition: 'unavailable',
      renewing: expect.any(Boolean),
      renewalBlocked: false,
      lastFailure: {
        kind: 'transient',
        msgCode: 'b_overload_error',
        gatewayRequestId: expect.stringMatching(/^[\da-f-]{36}$/),
        at: expect.any(String),
      },
      cause,
      remedy: expect.stringMatching(/^wait: /),
      runbook: 'renewals-failing',
      retryAt: expect.any(String),
    });
  });

  it('has one cause, in the same words everywhere, and on the page the key that is ours', async () => {
    const { publicJwk } = await generateClientKey();
    await start({ merchant: { publicJwk } });
    const cause = "Payments fail: the bank's new session opens with none of our keys";
    await eventually(async () => (await listed()).cause === cause);
    const page = (await (await fetch(`${broker.managementUrl}/status.json`)).json()) as Page;
    const remedy = expect.stringContaining(`thumbprint is ${broker.thumbprint}; `) as string;
    expect(page.merchants[0].cause).toEqual({ text: cause, remedy, runbook: 'access-refused' });
    const told = { cause };
    expect((await broker.as(TOKENS.oncall).post(`${SESSION}/renewal`)).body).toMatchObject(told);
    expect((await broker.as(TOKENS.checkout).get(SESSION).expect(503)).body).toMatchObject(told);
  });
});
