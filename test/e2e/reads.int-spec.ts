import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { generateClientKey } from '#libs/jwe';
import { endedAfterAll, endedAfterEach, eventually } from '#libs/testing';
import { type Answer, bodyOf, call } from './call.js';
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
function comparable({ status, headers, text: said }: Answer): object {
  const { date: _date, 'x-request-id': id, 'cache-control': cache, ...rest } = headers;
  const ownId = id === 'mine-1' ? id : (id ?? '').length;
  return { status, rest, ownId, cache: cache?.split('=')[0], said: said.replace(/InMs":\d+/g, '') };
}

describe('reading a session', () => {
  let broker: RunningBroker;
  let session: ServedSession;

  const started = endedAfterAll();
  beforeAll(async () => {
    broker = started.add(await RunningBroker.start(), (it) => it.close());
    session = await broker.get(SESSION, { prefer: 'wait=60' }).then(bodyOf<ServedSession>);
  });

  it('gives the same answer before the framework and through it', async () => {
    const etag = `"${session.generation}"`;
    for (const headers of [
      {},
      { 'if-none-match': etag },
      { 'if-none-match': '"1"' },
      { 'x-request-id': 'mine-1' },
      { 'x-request-id': 'not one' },
    ]) {
      const [early, late] = [await broker.get(SESSION, headers), await broker.get(SESSION + BY_THE_FRAMEWORK, headers)];
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
      const [early, late] = [await broker.get(path, copied), await broker.get(path + BY_THE_FRAMEWORK, copied)];
      expect(comparable(early)).toEqual(comparable(late));
      expect(early.headers).toMatchObject({ 'x-device_id': session.deviceId, 'x-refresh_token': session.refreshToken });
    }
  });

  it('gives Envoy the headers by the method and behind the path of a payment', async () => {
    const path = `${EXT_AUTHZ}/ecom/execute_request/hpp/v1/create-order?minRemaining=never`;
    const answer = await broker.post(path, undefined, TOKENS.checkout);
    expect(answer).toMatchObject({ status: 200, text: '', headers: { 'x-device_id': session.deviceId } });
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
      const body = { code: 'invalid_request', detail: expect.stringContaining('minRemaining') as string };
      expect(await broker.get(SESSION + query)).toMatchObject({ status: 400, body });
    },
  );

  it('lists the merchants of its caller, and no others', async () => {
    const listed = async (token: string): Promise<string[]> => {
      const { merchants } = await broker.get('/v1/merchants', {}, token).then(bodyOf<{ merchants: { id: string }[] }>);
      return merchants.map(({ id }) => id);
    };
    expect([await listed(TOKENS.checkout), await listed(TOKENS.admin)]).toEqual([['shop'], ['shop', 'hidden']]);
  });
});

describe('a broker that stops', () => {
  const started = endedAfterEach();

  it('answers a request whose end comes only then, and ends its connection', async () => {
    const broker = started.add(await RunningBroker.start(), (it) => it.close());
    const port = Number(new URL(broker.url).port);
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET /v1/merchants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKENS.checkout}\r\n`);
    // Whatever was written before the answer to this has arrived.
    expect((await broker.get('/v1/merchants')).status).toBe(200);
    const stopped = broker.close();
    await eventually(async () => {
      const another = connect(port, '127.0.0.1');
      const isRefused = await once(another, 'connect').then(
        () => false,
        () => true,
      );
      another.destroy();
      return isRefused;
    });
    socket.write('\r\n');
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toMatch(/^connection: close\r$/im);
    await stopped;
  });

  it('waits for nobody who was refused a tunnel at its management port, and stays connected', async () => {
    const broker = started.add(await RunningBroker.start(), (it) => it.close());
    const halfOpen = { port: Number(new URL(broker.managementUrl).port), host: '127.0.0.1', allowHalfOpen: true };
    const socket = started.add(connect(halfOpen), (it) => void it.destroy());
    socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 501 /);
    await broker.close();
  });
});

describe('a merchant without a session', () => {
  const started = endedAfterEach();

  it('has one cause, in the same words everywhere, and nothing else is told of the inside; the page has the key that is ours', async () => {
    const { publicJwk } = await generateClientKey();
    const broker = started.add(await RunningBroker.start({ merchant: { publicJwk } }), (it) => it.close());
    const cause = "Payments fail: the bank's new session opens with none of our keys";
    const listed = async (): Promise<{ readonly cause?: string }> =>
      (await broker.get('/v1/merchants').then(bodyOf<{ merchants: [{ cause?: string }] }>)).merchants[0];
    await eventually(async () => (await listed()).cause === cause);
    const failure = {
      kind: 'invalid_response',
      gatewayRequestId: expect.stringMatching(/^[\da-f-]{36}$/) as string,
      at: expect.any(String) as string,
    };
    expect(await listed()).toEqual({
      ...{ id: 'shop', state: 'unavailable', reason: 'no_session', condition: 'unavailable' },
      ...{ renewing: expect.any(Boolean), renewalBlocked: false, lastFailure: failure },
      ...{
        cause,
        remedy: expect.stringMatching(/^compare the key /),
        runbook: 'access-refused',
        retryAt: expect.any(String),
      },
    });
    const page = await call(`${broker.managementUrl}/status.json`).then(bodyOf);
    const remedy = expect.stringContaining(`thumbprint is ${broker.thumbprint}; `) as string;
    expect(page).toMatchObject({ merchants: [{ cause: { text: cause, remedy, runbook: 'access-refused' } }, {}] });
    expect((await broker.post(`${SESSION}/renewal`, undefined, TOKENS.oncall)).body).toMatchObject({ cause });
    const { status, body, headers } = await broker.get(SESSION);
    expect(status).toBe(503);
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(body).toEqual({
      type: 'urn:session-broker:problem:session_unavailable',
      title: 'There is no session to serve at the moment',
      status: 503,
      code: 'session_unavailable',
      reason: 'invalid_response',
      detail: 'The gateway answered with something that is not a session',
      cause,
      requestId: headers['x-request-id'],
    });
  });
});
