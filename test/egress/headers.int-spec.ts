import { randomUUID } from 'node:crypto';
import { type Caller, PATHS, type Route } from './callers.js';
import type { HostileGateway } from './hostile-gateway.js';
import { answer, PAID } from './hostile-gateway.js';
import { outcomeOf } from './outcome.js';
import type { PlayedBroker } from './played-broker.js';
import { PlayedStage } from './played-stage.js';
import type { RunningEgress } from './running-egress.js';

const ROUTES: readonly Route[] = ['clear', 'sealed'];
const GOOD = { good: JSON.stringify(PAID) };

/** Headers for the egress or for one connection, or about the network: none of it is the bank's business. */
const NOT_FOR_THE_BANK = [
  ['Proxy-Authorization', 'Basic c2VjcmV0LW9mLWEtcHJveHk='],
  ['Cookie', 'shop=secret-of-a-cookie'],
  ['Forwarded', 'for=192.0.2.60;proto=http;by=203.0.113.43'],
  ['X-Forwarded-For', '192.0.2.61'],
  ['X-Forwarded-Host', 'inside.example'],
  ['X-Forwarded-Proto', 'http'],
  ['Keep-Alive', 'timeout=77'],
  ['Proxy-Connection', 'keep-alive-of-a-proxy'],
  ['TE', 'trailers'],
  ['Accept-Encoding', 'gzip, br'],
  ['X-Named-By-Connection', 'only-for-one-hop'],
  ['Connection', 'close, X-Named-By-Connection'],
] as const;

/** Headers of a session, or claiming to be, in various spellings. */
const FORGED = [
  ['X-Api_Version', '9'],
  ['X-DEVICE_ID', randomUUID()],
  ['x-refresh_token', randomUUID()],
] as const;

const NOT_FOR_THE_CLIENT = [
  'Set-Cookie: waf=secret-of-the-firewall; Path=/',
  'Set-Cookie: second=cookie',
  'Keep-Alive: timeout=72',
  'Proxy-Authenticate: Basic',
  'Upgrade: h2c',
  'X-Named-By-Connection: of-one-hop',
  'Connection: keep-alive, X-Named-By-Connection',
  'X-Device_Id: of-the-bank',
  'X-Refresh_Token: of-the-bank',
];

describe('the headers of a payment', () => {
  let stage: PlayedStage;
  let broker: PlayedBroker;
  let gateway: HostileGateway;
  let egress: RunningEgress;
  let callers: readonly Caller[];

  beforeAll(async () => {
    stage = await PlayedStage.start();
    ({ broker, gateway, egress } = stage);
    callers = egress.callers();
  });
  afterAll(() => stage.close());

  it.each(ROUTES)(
    'reach the gateway without what is for the egress, for one connection or of the network: %s',
    async (route) => {
      for (const caller of callers) {
        await gateway.script();
        expect(outcomeOf(await caller.pay(route, {}, { headers: NOT_FOR_THE_BANK.flat() }), GOOD)).toBe('good');
        const [request] = gateway.seen;
        const values = NOT_FOR_THE_BANK.map(([, value]) => value).filter((value) => value.length > 8);
        expect([...caller.secrets, ...values].filter((secret) => request?.text.includes(secret))).toEqual([]);
        expect(request?.headerNames).not.toContain('x-named-by-connection');
        expect(request?.headerNames).not.toContain('authorization');
        expect(request?.headerNames.filter((name) => name.startsWith('x-forwarded') || name === 'via')).toEqual([]);
        expect(request?.valuesOf('accept-encoding')).not.toContain('gzip, br');
        expect(request?.valuesOf('host')).toEqual([new URL(gateway.url).host]);
      }
    },
  );

  it.each(ROUTES)('are those of one session, whatever the client sends in their place: %s', async (route) => {
    const plain = egress.plain();
    await gateway.script();
    expect(outcomeOf(await plain.pay(route, {}, { headers: [...FORGED.flat(), ...FORGED.flat()] }), GOOD)).toBe('good');
    const [request] = gateway.seen;
    const session = request && gateway.sessionOf(request);
    expect(session).toBeDefined();
    expect(request?.valuesOf('x-api_version')).toEqual(['V1']);
    expect(request?.valuesOf('x-device_id')).toEqual([session?.deviceId]);
    expect(request?.valuesOf('x-refresh_token')).toEqual([session?.refreshToken]);
    expect(request?.text).not.toContain(session?.authToken);
  });

  it.each(ROUTES)('say what the body is, and keep what the client said besides: %s', async (route) => {
    for (const caller of callers) {
      await gateway.script();
      const headers = ['X-Request_Id', 'request-7', 'Accept-Language', 'uk', 'traceparent', TRACE];
      await caller.pay(route, {}, { headers });
      const [request] = gateway.seen;
      expect(request?.valuesOf('content-type')[0]).toMatch(route === 'sealed' ? /^text\/plain/ : /^application\/json/);
      expect(request?.valuesOf('content-length').length).toBeLessThanOrEqual(1);
      expect(request?.valuesOf('x-request_id')).toEqual(['request-7']);
      expect(request?.valuesOf('accept-language')).toEqual(['uk']);
      expect(request?.valuesOf('traceparent').map((value) => value.slice(0, 35))).toEqual([TRACE.slice(0, 35)]);
    }
  });

  it.each(ROUTES)(
    'reach the client without cookies, what is for one connection, and anything of a session: %s',
    async (route) => {
      for (const caller of callers) {
        await gateway.script({
          run: ({ socket, good }) =>
            void socket.write(answer(200, good, [...NOT_FOR_THE_CLIENT, 'X-Request_Id: request-7'])),
        });
        const given = await caller.pay(route, {});
        expect(outcomeOf(given, GOOD)).toBe('good');
        const text = JSON.stringify(given.rawHeaders).toLowerCase();
        for (const name of [
          'set-cookie',
          'x-named-by-connection',
          'x-device_id',
          'x-refresh_token',
          'proxy-authenticate',
          'h2c',
          'timeout=72',
        ])
          expect(text).not.toContain(name);
        expect(given.headers['x-request_id']).toBe('request-7');
        for (const session of broker.sessions)
          for (const secret of [session.deviceId, session.refreshToken, session.authToken]) {
            expect(text).not.toContain(secret);
            expect(given.text).not.toContain(secret);
          }
      }
    },
  );

  it.each(ROUTES)('keep the query and the method: %s', async (route) => {
    for (const caller of callers) {
      await gateway.script();
      const path = `${PATHS[route]}?a=1&b=x%20y`;
      expect(outcomeOf(await caller.pay(route, {}, { path }), GOOD)).toBe('good');
      expect(gateway.seen).toMatchObject([{ method: 'POST', target: path }]);
    }
  });
});

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
