import { hostname } from 'node:os';
import type { Response, Test } from 'supertest';
import { endedAfterAll, endedAfterEach } from '#libs/testing';
import { problem, RunningBroker, TOKENS } from './running-broker.js';
import { TIME_PASSES } from './session-document.js';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

const PATH = '/v1/merchants/shop/session';
const HEADERS = `${PATH}/headers`;
/** Makes a request go through the framework: an unknown preference is ignored. */
const THROUGH_THE_FRAMEWORK = { prefer: 'respond-async' };

interface SessionBody {
  readonly generation: number;
  readonly authToken: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly renewAt: string;
  readonly expiresInMs: number;
  readonly renewInMs: number;
}

const ask = (broker: RunningBroker, path: string, headers: Record<string, string> = {}): Test =>
  broker.as(TOKENS.checkout).get(path).set(headers);
const read = (broker: RunningBroker, headers: Record<string, string> = {}): Test => ask(broker, PATH, headers);
const sessionOf = ({ body }: { readonly body: unknown }): SessionBody => body as SessionBody;
const firstOf = (broker: RunningBroker): Promise<SessionBody> =>
  read(broker, { prefer: 'wait=60' }).expect(200).then(sessionOf);
const etagOf = ({ generation }: SessionBody): string => `"${generation}"`;

/** What two answers to the same request have in common. */
function comparable({ status, headers, text }: Response): object {
  const { date: _date, 'x-request-id': id, 'cache-control': cache, ...rest } = headers as Record<string, string>;
  const ownId = id === 'mine-1' ? id : (id ?? '').length;
  const said = text.replace(/InMs":\d+/g, '');
  return { status, rest, ownId, cache: cache?.split('=')[0], said };
}

describe('reading a session', () => {
  let broker: RunningBroker;

  const started = endedAfterAll();
  beforeAll(async () => {
    broker = started.add(await RunningBroker.start(), (it) => it.close());
    await firstOf(broker);
  });

  it('gives the same answer before the framework and through it', async () => {
    const etag = etagOf(await firstOf(broker));
    for (const headers of [{}, { 'if-none-match': etag }, { 'if-none-match': '"1"' }, { 'x-request-id': 'mine-1' }]) {
      const early = await read(broker, headers);
      const late = await read(broker, { ...headers, ...THROUGH_THE_FRAMEWORK });
      expect(comparable(early)).toEqual(comparable(late));
    }
  });

  it.each(['?minRemaining=60', '?minRemaining=2h', '?minRemaining=1s&minRemaining=2s', '?force=true'])(
    'refuses the query %s',
    async (query) => {
      const { body } = await ask(broker, PATH + query).expect(400);
      expect(body).toMatchObject({
        code: 'invalid_request',
        detail: expect.stringContaining('minRemaining'),
      });
    },
  );

  it('lists the merchants of the caller without any secret', async () => {
    const { body, text } = await ask(broker, '/v1/merchants').expect(200);
    expect(body).toEqual({
      replica: hostname(),
      store: 'answers',
      merchants: [
        {
          id: 'shop',
          state: 'fresh',
          reason: 'current',
          condition: 'fresh',
          renewing: false,
          renewalBlocked: false,
          generation: expect.any(Number),
          expiresAt: expect.any(String),
          renewAt: expect.any(String),
        },
      ],
    });
    expect(text).not.toContain((await firstOf(broker)).authToken);
    const everything = await broker.as(TOKENS.admin).get('/v1/merchants').expect(200);
    expect(everything.body).toMatchObject({ merchants: [{ id: 'shop' }, { id: 'hidden' }] });
  });
});

describe('waiting for a session', () => {
  const started = endedAfterEach();

  it('holds the request until the session changes', async () => {
    const broker = started.add(await RunningBroker.start(), (it) => it.close());
    const before = await firstOf(broker);
    const held = broker.get(PATH, { 'if-none-match': etagOf(before), prefer: 'wait=60' });
    // The list is answered after the waiting request has been accepted on its own connection.
    await broker.get('/v1/merchants');
    const { generation } = before;
    const renewed = await broker.post(`${PATH}/rejections`, { generation, reason: 'b_used_token' });
    const after = await held;
    expect([after.status, after.headers.get('preference-applied')]).toEqual([200, 'wait=60']);
    expect(await after.json()).toEqual({ ...((await renewed.json()) as object), ...TIME_PASSES });
  });

  it('is answered at once when the replica shuts down', async () => {
    const broker = await RunningBroker.start();
    const etag = etagOf(await firstOf(broker));
    const held = broker.get(PATH, { 'if-none-match': etag, prefer: 'wait=60' });
    // The list is answered after the waiting request has been accepted on its own connection.
    await broker.get('/v1/merchants');
    await broker.close();
    expect((await held).status).toBe(304);
  });
});

describe('when there is no session', () => {
  let broker: RunningBroker;

  const started = endedAfterAll();
  beforeAll(async () => {
    broker = started.add(
      await RunningBroker.start({ faults: [{ kind: 'error', merchant: 'shop', msgCode: 'b_overload_error' }] }),
      (it) => it.close(),
    );
  });

  it('refuses with 503, says why and when to ask again, and reveals nothing of the inside', async () => {
    const { body, headers } = await read(broker)
      .expect(503)
      .expect('content-type', /^application\/problem\+json/);
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(body).toEqual({
      type: 'urn:session-broker:problem:session_unavailable',
      title: 'There is no session to serve at the moment',
      status: 503,
      code: 'session_unavailable',
      reason: 'transient',
      detail: 'The gateway failed in a way that usually passes',
      cause: 'Payments fail: the bank reports a fault of its own: b_overload_error',
      requestId: headers['x-request-id'],
    });
  });

  it('shows the last failure in the list of merchants', async () => {
    await read(broker);
    const { body } = await ask(broker, '/v1/merchants').expect(200);
    expect((body as { merchants: unknown[] }).merchants).toEqual([
      {
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
        cause: 'Payments fail: the bank reports a fault of its own: b_overload_error',
        remedy: expect.stringMatching(/^wait: /),
        runbook: 'renewals-failing',
        retryAt: expect.any(String),
      },
    ]);
  });

  it('gives a proxy no header, and tells it when to come again', async () => {
    const asked = broker.as(TOKENS.checkout).get(HEADERS).expect(503).expect(problem('session_unavailable'));
    const { headers } = await asked;
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(Object.keys(headers as object)).not.toContain('x-device_id');
  });
});

const EXT_AUTHZ = `${HEADERS}/ext_authz`;
/** Makes a read go through the framework. */
const BY_THE_FRAMEWORK = '?minRemaining=1ms';

interface PresentedSession {
  readonly generation: number;
  readonly deviceId: string;
  readonly refreshToken: string;
}

/** What two answers to the same request have in common. */
function withoutBody({ status, headers, text: body }: Response): object {
  const { date: _date, 'x-request-id': id, ...rest } = headers as Record<string, string>;
  return { status, rest, idLength: id?.length, body };
}

describe('the headers of a session, for a proxy', () => {
  let broker: RunningBroker;
  let session: PresentedSession;

  const started = endedAfterAll();
  beforeAll(async () => {
    broker = started.add(await RunningBroker.start(), (it) => it.close());
    const { body } = await broker.as(TOKENS.checkout).get(PATH).set('prefer', 'wait=60').expect(200);
    session = body as PresentedSession;
  });

  it('are those of the session that is read, in an answer without a body that nobody keeps', async () => {
    const { headers } = await broker
      .as(TOKENS.checkout)
      .get(HEADERS)
      .expect(204, '')
      .expect('x-api_version', 'V1')
      .expect('x-device_id', session.deviceId)
      .expect('x-refresh_token', session.refreshToken)
      .expect('etag', `"${session.generation}"`)
      .expect('cache-control', 'no-store');
    expect(headers).not.toHaveProperty('content-type');
    expect(JSON.stringify(headers)).not.toContain('authToken');
  });

  it.each([HEADERS, EXT_AUTHZ])('are the same before the framework and through it: %s', async (path) => {
    const early = await broker.as(TOKENS.checkout).get(path);
    const late = await broker.as(TOKENS.checkout).get(path + BY_THE_FRAMEWORK);
    expect(withoutBody(early)).toEqual(withoutBody(late));
  });

  it.each(['', BY_THE_FRAMEWORK])(
    'are given whatever the headers of the client say that a proxy copies: %s',
    async (query) => {
      const copied = {
        'if-none-match': `"${session.generation}"`,
        prefer: 'wait=60',
        range: 'bytes=0-1',
        'content-type': 'text/plain',
        'x-device_id': 'forged',
        'x-forwarded-uri': '/v1/merchants/hidden/session',
      };
      const asked = broker.as(TOKENS.checkout).get(HEADERS + query);
      await asked.set(copied).expect(204).expect('x-device_id', session.deviceId);
    },
  );

  it('are given to Envoy with 200, by the method and behind the path of a payment', async () => {
    const path = `${EXT_AUTHZ}/ecom/execute_request/hpp/v1/create-order?minRemaining=never`;
    const asked = broker.as(TOKENS.checkout).post(path).set('content-length', '0');
    await asked.expect(200, '').expect('x-device_id', session.deviceId).expect('x-api_version', 'V1');
  });

  it.each(['', BY_THE_FRAMEWORK])('do not wait for a body, and end its connection: %s', async (query) => {
    const socket = connect(Number(new URL(broker.url).port), '127.0.0.1');
    const length = 'Content-Type: application/json\r\nContent-Length: 9000000';
    socket.write(
      `POST ${EXT_AUTHZ}${query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKENS.checkout}\r\n${length}\r\n\r\n{`,
    );
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toMatch(/^connection: close\r$/im);
  });

  it('are for those who may read the session, and nobody else', async () => {
    await broker
      .as('wrong')
      .get(HEADERS)
      .expect(401)
      .expect('www-authenticate', /^Bearer/);
    await broker.as(TOKENS.reporting).get(HEADERS).expect(403).expect(problem('forbidden'));
    await broker.as(TOKENS.checkout).get('/v1/merchants/hidden/session/headers').expect(403);
    await broker.as(TOKENS.checkout).post('/v1/merchants/hidden/session/headers/ext_authz/ecom').expect(403);
    await broker.as('wrong').post(`${EXT_AUTHZ}/ecom`).expect(401);
    await broker.as(TOKENS.admin).get('/v1/merchants/nobody/session/headers').expect(404);
  });

  it('are in no line of the log', () => {
    const log = broker.lines.join('');
    for (const secret of [session.deviceId, session.refreshToken]) expect(log).not.toContain(secret);
  });
});
