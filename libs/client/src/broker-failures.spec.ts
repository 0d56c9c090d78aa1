import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import {
  aSessionDocument as aDocument,
  away,
  FakeClock,
  json,
  problem,
  ScriptedBroker,
} from '../../testing/src/index.js';
import { clientOf } from '../fixtures/client-of.js';
import type { ClientEvent } from './client-event.js';
import { ProtocolError, type SessionBrokerError, SessionRejected } from './errors.js';
import type { SessionBrokerOptions } from './options.js';
import type { SessionBroker } from './session-broker.js';
import { VERSION } from './version.js';

const PLACE = '(http://broker.test, merchant "shop")';
describe('what goes wrong', () => {
  let clock: FakeClock;
  let server: ScriptedBroker;
  let broker: SessionBroker;
  let events: ClientEvent[];

  const open = (options: Partial<SessionBrokerOptions> = {}): SessionBroker => {
    broker = clientOf(server, clock, { auth: 'canary-token', onEvent: (event) => void events.push(event), ...options });
    return broker;
  };
  /** The failure of a read as a log shows it, after all retries. */
  const failure = async (): Promise<SessionBrokerError> => {
    const failed = broker.session().catch((error: unknown) => error as SessionBrokerError);
    await clock.advance(20_000);
    return (await failed) as SessionBrokerError;
  };

  beforeEach(() => {
    clock = new FakeClock();
    server = new ScriptedBroker();
    events = [];
  });
  afterEach(() => broker.close());

  it('is told with the code of the system, the URL and the merchant', async () => {
    server.on('read', away);
    open();
    const error = await failure();
    expect(error.message).toBe(`The broker cannot be reached: ECONNREFUSED ${PLACE}`);
    expect(inspect(error)).toContain(error.message);
    expect(inspect(error)).not.toContain('canary');
  });

  it("is told with the problem's title, detail and cause", async () => {
    const body = {
      type: 'urn:session-broker:problem:session_unavailable',
      title: 'There is no session to serve at the moment',
      detail: 'the gateway refuses the serviceCode',
      cause: 'the bank refuses: b_merchant_not_found',
      status: 503,
      code: 'session_unavailable',
    };
    server.on('read', () => json(body, 503));
    open();
    const says = `: ${body.detail}; ${body.cause} ${PLACE}`;
    expect((await failure()).message).toBe(`The broker answered 503 (session_unavailable)${says}`);
    server.on('read', () => json({ ...body, code: 'forbidden' }, 403));
    expect((await failure()).message).toBe(
      `The broker does not allow this caller to do that, or there is no such merchant (403)${says}`,
    );
  });

  const FORBIDDEN = 'The broker does not allow this caller to do that, or there is no such merchant (403)';
  const STRANGER = "This 403 is not the broker's, but that of a proxy or of somebody else: is the URL right?";

  it.each<[string, object, string]>([
    ['of whatever else answers there', { type: 'about:blank' }, STRANGER],
    ['with line breaks in them', { title: 'a\nb', detail: 'a\u2028b' }, FORBIDDEN],
  ])('is not told with texts %s', async (_what, changed, says) => {
    const texts = { title: 'canary-token', detail: 'not with canary-token' };
    const body = { type: 'urn:session-broker:problem:forbidden', code: 'forbidden', ...texts, ...changed };
    server.on('read', () => json(body, 403));
    open();
    expect((await failure()).message).toBe(`${says} ${PLACE}`);
  });

  it.each([
    [undefined, 'The broker asks for a credential, and no auth was given (401)'],
    ['canary-token', 'The broker does not accept the credential (401)'],
  ])('is a 401, which says whether there was a credential: %s', async (auth, says) => {
    server.on('read', () => problem(401, 'unauthenticated'));
    open({ auth });
    expect((await failure()).message).toContain(says);
  });

  it('is a 403 of somebody else, such as a proxy, where the problem is none of the broker', async () => {
    server.on('read', () => new Response('<html>canary', { status: 403, headers: { 'content-type': 'text/html' } }));
    open();
    expect(await failure()).toMatchObject({ code: 'http_403', message: `${STRANGER} ${PLACE}` });
  });

  it('is a path that the broker does not have, where the URL has one too many', async () => {
    server.on('read', () => problem(404, 'route_not_found'));
    open();
    const says = 'The broker has no such path (404)';
    expect((await failure()).message).toBe(`${says}: is the path of the URL right, which ends before /v1? ${PLACE}`);
    const detail = 'this is the management port of a broker; its API is on port 8080';
    const body = { type: 'urn:session-broker:problem:route_not_found', code: 'route_not_found', detail };
    server.on('read', () => json(body, 404));
    expect((await failure()).message).toBe(`${says}: ${detail} ${PLACE}`);
  });

  it('is an auth function that threw, without what it threw', async () => {
    open({ auth: () => Promise.reject(new TypeError('canary')) });
    const error = await failure();
    expect(error.message).toBe(`The auth function threw; log it there, it is not told here ${PLACE}`);
    expect(inspect(error)).not.toContain('canary');
  });

  it.each([404, 405])('is a wrong URL when somebody else answers %d', async (status) => {
    server.on('read', () => new Response('<html>Not here', { status }));
    open();
    const error = await failure();
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error).toMatchObject({ code: 'not_the_broker', status });
    expect(error.message).toBe(`This ${status} is not the broker's: is the URL right? ${PLACE}`);
    expect(server.requests).toHaveLength(1);
  });

  it.each<[string, () => Response]>([
    ['no JSON object', () => new Response('<html>canary', { status: 200 })],
    ['no JSON object', () => json(['canary'])],
    ['no session', () => json({ ok: 'canary' })],
  ])('is a wrong URL when somebody else answers with 200, and it is %s', async (what, answer) => {
    server.on('read', answer);
    open();
    const error = await failure();
    expect(error).toBeInstanceOf(ProtocolError);
    expect(error.message).toBe(`This answer is not the broker's, it is ${what}: is the URL right? ${PLACE}`);
  });

  it('says how long nobody answered, and that the client was closed', async () => {
    open();
    expect((await failure()).message).toBe(`No answer within 7500 ms, the time of one try of several ${PLACE}`);
    await broker.close();
    await expect(broker.session()).rejects.toThrow(`The session broker client is closed ${PLACE}`);
  });

  it('names the place for each call, and keeps the rejection as the cause', async () => {
    server.on('read', () => json(aDocument()));
    for (const route of ['decrypt', 'notification', 'rejections'] as const) {
      server.on(route, () => problem(403, 'forbidden'));
    }
    open();
    const dead = new SessionRejected('b_used_token');
    const reject = (): Promise<never> => broker.withSession(() => Promise.reject(dead));
    await expect(reject()).rejects.toMatchObject({ message: expect.stringContaining(PLACE), cause: dead });
    await expect(broker.decrypt('a.b.c.d.e')).rejects.toThrow(PLACE);
    await expect(broker.openNotification({ headers: {}, body: '' })).rejects.toThrow(PLACE);
  });

  it('is told while it is tried again', async () => {
    const answers = [away, () => problem(503, 'starting'), () => json(aDocument())];
    server.on('read', () => answers.shift()!());
    open();
    const session = broker.session();
    await clock.advance(5_000);
    await session;
    const told = events.filter(({ type }) => type === 'retrying');
    expect(told).toMatchObject([
      { attempt: 1, retryInMs: 100, error: { code: 'network', message: expect.stringContaining(PLACE) } },
      { attempt: 2, retryInMs: 200, error: { code: 'starting', status: 503 } },
    ]);
    expect(JSON.stringify(told)).not.toContain('canary');
  });
});

it('names itself by the version of its package', () => {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  expect((JSON.parse(manifest) as { version: string }).version).toBe(VERSION);
});
