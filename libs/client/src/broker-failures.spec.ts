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
import { type SessionBrokerError, SessionRejected } from './errors.js';
import type { SessionBrokerOptions } from './options.js';
import type { SessionBroker } from './session-broker.js';
import { VERSION } from './version.js';

const PLACE = '(http://broker.test, merchant "shop")';
const TOKEN = 'canary-token';

describe('what goes wrong', () => {
  let clock: FakeClock;
  let server: ScriptedBroker;
  let broker: SessionBroker;
  let events: ClientEvent[];

  const open = (options: Partial<SessionBrokerOptions> = {}): SessionBroker => {
    broker = clientOf(server, clock, { auth: TOKEN, onEvent: (event) => void events.push(event), ...options });
    return broker;
  };
  /** The failure of a read after all retries. Nobody's secret is in it, whatever the other side puts into its own. */
  const failure = async (): Promise<SessionBrokerError> => {
    const failed = broker.session().catch((error: unknown) => error as SessionBrokerError);
    await clock.advance(20_000);
    const error = (await failed) as SessionBrokerError;
    expect(inspect(error, { depth: 10, showHidden: true })).not.toMatch(/canary/i);
    expect(inspect(error)).toContain(error.message);
    return error;
  };

  beforeEach(() => {
    clock = new FakeClock();
    server = new ScriptedBroker();
    events = [];
  });
  afterEach(() => broker.close());

  const texts = {
    title: 'There is no session',
    detail: 'the gateway refuses',
    cause: 'the bank: b_merchant_not_found',
  };
  const saying = (status: number, members: object): (() => Response) => {
    const { code } = { code: 'forbidden', ...members };
    return () => json({ type: `urn:session-broker:problem:${code}`, code, status, ...members }, status);
  };
  const page = (status: number) => () => new Response('<html>canary', { status });
  const changed = (members: object) => () => json({ ...aDocument(), ...members });

  const FORBIDDEN = 'The broker does not allow this caller to do that, or there is no such merchant (403)';
  const STRANGER = "This 403 is not the broker's, but that of a proxy or of somebody else: is the URL right?";
  const NO_PATH = 'The broker has no such path (404): ';
  const NO_JSON = "This answer is not the broker's, it is no JSON object: is the URL right?";
  const NO_SESSION = "This answer is not the broker's, it is no session: is the URL right?";

  it.each<[string, string, () => Response, string]>([
    ['a refusal', 'Forbidden forbidden', saying(403, texts), `${FORBIDDEN}: ${texts.detail}; ${texts.cause} ${PLACE}`],
    ['texts of several lines', 'Forbidden forbidden', saying(403, { title: 'a\nb', detail: 'a\u2028b' }), FORBIDDEN],
    ['a problem of somebody else', 'Forbidden forbidden', saying(403, { type: 'x', title: TOKEN }), STRANGER],
    ['a page under 403', 'Forbidden http_403', page(403), STRANGER],
    ['a code that is none', 'RequestRefused http_422', saying(422, { code: 'CANARY', type: 'x' }), 'This 422 is not'],
    [
      'a credential of nobody',
      'Unauthenticated x',
      () => problem(401, 'x'),
      'The broker does not accept the credential',
    ],
    ['a path too many', 'RequestRefused route_not_found', saying(404, { code: 'route_not_found' }), `${NO_PATH}is the`],
    [
      'a path of another port',
      'RequestRefused route_not_found',
      saying(404, { code: 'route_not_found', detail: 'its API is on port 8080' }),
      `${NO_PATH}its API is on port 8080 ${PLACE}`,
    ],
    ['a page under 404', 'ProtocolError not_the_broker', page(404), "This 404 is not the broker's: is the URL right?"],
    ['a page under 405', 'ProtocolError not_the_broker', page(405), "This 405 is not the broker's: is the URL right?"],
    ['an egress', 'ProtocolError not_the_broker', saying(401, { serviceId: 'session-egress' }), 'It is an egress'],
    ['a page', 'ProtocolError answer_invalid', page(200), NO_JSON],
    ['a list', 'ProtocolError answer_invalid', () => json(['canary']), NO_JSON],
    ['half a session', 'ProtocolError answer_invalid', () => new Response(`{"authToken": "${TOKEN}"`), NO_JSON],
    ['another object', 'ProtocolError session_invalid', () => json({ ok: 'canary' }), NO_SESSION],
    ['a redirect', 'ProtocolError status_unexpected', page(302), 'The broker never answers 302: is the URL right?'],
    ["another's session", 'ProtocolError session_invalid', changed({ merchant: 'canary' }), ''],
    ['another key', 'ProtocolError session_invalid', changed({ serverPublic: { kty: 'EC', crv: 'P-256' } }), ''],
    ['a generation that is none', 'ProtocolError session_invalid', changed({ generation: 'canary' }), ''],
    ['a moment that is none', 'ProtocolError session_invalid', changed({ expiresAt: 'canary' }), ''],
    ['too much', 'ProtocolError answer_too_large', () => new Response('x'.repeat(600_000)), ''],
  ])('is told with the place and no secret, and not tried again, by %s: %s', async (...[, kind, answer, says]) => {
    server.on('read', answer);
    open();
    const { name, code, message } = await failure();
    expect([`${name} ${code}`, message.slice(0, says.length)]).toEqual([kind, says]);
    expect(message).toContain(PLACE);
    expect(server.requests).toHaveLength(1);
  });

  it('is a credential that is missing where none was given', async () => {
    server.on('read', () => problem(401, 'unauthenticated'));
    open({ auth: undefined });
    expect((await failure()).message).toBe(
      `The broker asks for a credential, and no auth was given (401): A title ${PLACE}`,
    );
  });

  it('is an auth function that threw, without what it threw', async () => {
    open({ auth: () => Promise.reject(new TypeError('canary')) });
    expect((await failure()).message).toBe(`The auth function threw; log it there, it is not told here ${PLACE}`);
  });

  it('is tried again within the time of the call, and told meanwhile', async () => {
    const answers: (() => Response | Promise<Response>)[] = [
      away,
      () => problem(503, 'session_unavailable', { 'retry-after': '1' }),
      page(502),
      () => problem(429, 'rate_limited', { 'retry-after': '1' }),
      () => json(aDocument()),
    ];
    server.on('read', () => answers.shift()!());
    open();
    const session = broker.session();
    await clock.advance(5_000);
    expect((await session).generation).toBe(1);
    const told = events.filter(({ type }) => type === 'retrying');
    const message = `The broker cannot be reached: ECONNREFUSED ${PLACE}`;
    expect(told).toMatchObject([
      { attempt: 1, retryInMs: 100, error: { code: 'network', message } },
      { attempt: 2, retryInMs: 1_200, error: { code: 'session_unavailable', status: 503 } },
      { attempt: 3, retryInMs: 400, error: { code: 'http_502' } },
      { attempt: 4, retryInMs: 1_800, error: { code: 'rate_limited' } },
    ]);
    expect(JSON.stringify(told)).not.toContain('canary');
  });

  const never = (): Promise<never> => new Promise(() => undefined);
  const none =
    (headers: Record<string, string> = {}) =>
    (): Promise<Response> =>
      Promise.resolve(problem(503, 'session_unavailable', headers));
  it.each<[string, readonly (() => Promise<Response>)[], object, number]>([
    ['with what it said last', [none({ 'x-request-id': 'r-1' })], { status: 503, requestId: 'r-1' }, 18],
    ['with its last whole failure when an attempt is cut short', [never, none(), never], { status: 503 }, 3],
    ['at once when it asks for more time', [none({ 'retry-after': '300' })], { status: 503, retryAfterMs: 300_000 }, 1],
    ['after a second try when it never answers', [never], { code: 'timeout' }, 2],
    ['without what fetch threw', [() => Promise.reject(new Error(TOKEN))], { code: 'network', status: undefined }, 18],
  ])('is a broker that is given up, %s', async (...[, answers, expected, requests]) => {
    const left = [...answers];
    server.on('read', () => (left.length > 1 ? left.shift()! : left[0]!)());
    open();
    const message = expect.stringContaining(PLACE) as string;
    expect(await failure()).toMatchObject({ name: 'BrokerUnavailable', message, ...expected });
    expect([server.requests.length, clock.pendingTasks]).toEqual([requests, 0]);
    if (answers.includes(never)) expect(server.requests.at(-1)?.signal.aborted).toBe(true);
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
});

it('names itself by the version of its package', () => {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  expect((JSON.parse(manifest) as { version: string }).version).toBe(VERSION);
});
