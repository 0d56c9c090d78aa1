import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Response } from './http-request.js';
import { endedAfterAll } from '#libs/testing';
import { problem, RunningBroker, TOKENS } from './running-broker.js';

const SESSION = '/v1/merchants/shop/session';
const PATH = `${SESSION}/headers`;
const EXT_AUTHZ = `${PATH}/ext_authz`;
/** Makes a read go through the framework. */
const THROUGH_THE_FRAMEWORK = '?minRemaining=1ms';

interface SessionBody {
  readonly generation: number;
  readonly deviceId: string;
  readonly refreshToken: string;
}

/** What two answers to the same request have in common. */
function comparable({ status, headers, text: body }: Response): object {
  const { date: _date, 'x-request-id': id, ...rest } = headers as Record<string, string>;
  return { status, rest, idLength: id?.length, body };
}

describe('the headers of a session, for a proxy', () => {
  let broker: RunningBroker;
  let session: SessionBody;

  const started = endedAfterAll();
  beforeAll(async () => {
    broker = started.add(await RunningBroker.start(), (it) => it.close());
    const { body } = await broker.as(TOKENS.checkout).get(SESSION).set('prefer', 'wait=5').expect(200);
    session = body as SessionBody;
  });

  it('are those of the session that is read, in an answer without a body that nobody keeps', async () => {
    const { headers } = await broker
      .as(TOKENS.checkout)
      .get(PATH)
      .expect(204, '')
      .expect('x-api_version', 'V1')
      .expect('x-device_id', session.deviceId)
      .expect('x-refresh_token', session.refreshToken)
      .expect('etag', `"${session.generation}"`)
      .expect('cache-control', 'no-store');
    expect(headers).not.toHaveProperty('content-type');
    expect(JSON.stringify(headers)).not.toContain('authToken');
  });

  it.each([PATH, EXT_AUTHZ])('are the same before the framework and through it: %s', async (path) => {
    const early = await broker.as(TOKENS.checkout).get(path);
    const late = await broker.as(TOKENS.checkout).get(path + THROUGH_THE_FRAMEWORK);
    expect(comparable(early)).toEqual(comparable(late));
  });

  it.each(['', THROUGH_THE_FRAMEWORK])(
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
      const asked = broker.as(TOKENS.checkout).get(PATH + query);
      await asked.set(copied).expect(204).expect('x-device_id', session.deviceId);
    },
  );

  it.each(['', '/', '/ecom/execute_request/hpp/v1/create-order?minRemaining=never'])(
    'are given to Envoy with 200, by the method and behind the path of a payment: %s',
    async (suffix) => {
      const asked = broker
        .as(TOKENS.checkout)
        .post(EXT_AUTHZ + suffix)
        .set('content-length', '0');
      await asked.expect(200, '').expect('x-device_id', session.deviceId).expect('x-api_version', 'V1');
    },
  );

  it.each(['', THROUGH_THE_FRAMEWORK])('do not wait for a body, and end its connection: %s', async (query) => {
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
      .get(PATH)
      .expect(401)
      .expect('www-authenticate', /^Bearer/);
    await broker.as(TOKENS.reporting).get(PATH).expect(403).expect(problem('forbidden'));
    await broker.as(TOKENS.checkout).get('/v1/merchants/hidden/session/headers').expect(403);
    await broker.as(TOKENS.checkout).post('/v1/merchants/hidden/session/headers/ext_authz/ecom').expect(403);
    await broker.as('wrong').post(`${EXT_AUTHZ}/ecom`).expect(401);
    await broker.as(TOKENS.admin).get('/v1/merchants/nobody/session/headers').expect(404);
  });

  it('are read only: other methods are refused, also under the path of a payment', async () => {
    await broker.as(TOKENS.checkout).post(PATH).expect(405).expect('allow', 'GET, HEAD');
    await broker.as(TOKENS.checkout).delete(`${EXT_AUTHZ}/ecom`).expect(405);
    await broker.as(TOKENS.checkout).get(`${PATH}/ecom`).expect(404);
  });

  it.each(['?force=true', '?minRemaining=2h'])('refuse the query %s', async (query) => {
    const asked = broker.as(TOKENS.checkout).get(PATH + query);
    await asked.expect(400).expect(problem('invalid_request'));
  });

  it('are in no line of the log', () => {
    const log = broker.lines.join('');
    for (const secret of [session.deviceId, session.refreshToken]) expect(log).not.toContain(secret);
  });
});

describe('the headers of a session that has no refresh token', () => {
  it('are two, rather than three of which one is empty', async () => {
    const broker = await RunningBroker.start({ merchant: { form: 'short' } });
    try {
      await broker.as(TOKENS.checkout).get(SESSION).set('prefer', 'wait=5').expect(200);
      for (const query of ['', THROUGH_THE_FRAMEWORK]) {
        const { headers } = await broker
          .as(TOKENS.checkout)
          .get(PATH + query)
          .expect(204);
        expect(Object.keys(headers as object).filter((name) => name.includes('_'))).toEqual([
          'x-api_version',
          'x-device_id',
        ]);
      }
    } finally {
      await broker.close();
    }
  });
});

describe('without a session', () => {
  it('no header is given, and the proxy is told when to come again', async () => {
    const broker = await RunningBroker.start({ faults: [{ kind: 'error', msgCode: 'b_overload_error' }] });
    try {
      const { headers } = await broker.as(TOKENS.checkout).get(PATH).expect(503).expect(problem('session_unavailable'));
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(Object.keys(headers as object)).not.toContain('x-device_id');
    } finally {
      await broker.close();
    }
  });
});
