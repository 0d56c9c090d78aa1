import type { RequestListener } from 'node:http';
import { GatewayFailure } from '#libs/session';
import { endedAfterEach, FakeClock, LoopbackServer, TestAuthority } from '#libs/testing';
import { entryPointOf } from './entry-point.js';
import type { CallTools } from './gateway-call.js';
import { GatewayConnections } from './gateway-connections.js';
import { aMerchantGateway, aParty, AUTH_TOKEN, DEVICE_ID, serverPublicOf, type TestParty } from './gateway-fixtures.js';
import { askPlainly, lookUp, type PlainAnswer, reach, shakeHands } from './gateway-reach.js';
import type { MerchantGateway } from './merchant-gateway.js';
import { presentedChain } from './presented-chain.js';
import { inspectSession, type SessionInspection } from './session-inspection.js';

const authority = new TestAuthority();
const ca = authority.cert;
const YEAR_2031 = new Date('2031-05-06T07:08:09Z');

let party: TestParty;
let bank: TestParty;
let clock: FakeClock;
const started = endedAfterEach();
const { signal } = new AbortController();

beforeAll(async () => {
  [party, bank] = await Promise.all([aParty(), aParty()]);
});
beforeEach(() => {
  clock = new FakeClock();
});
afterEach(() => expect(clock.pendingTasks).toBe(0));

const until = (server: LoopbackServer): LoopbackServer => started.add(server, (it) => it.close());

const gatewayAt = (origin: string, overrides: Partial<MerchantGateway> = {}): MerchantGateway =>
  aMerchantGateway(party, { baseUrl: new URL(origin), ...overrides });

const tools = (): CallTools => ({
  connections: started.add(new GatewayConnections(clock), (it) => it.close()),
  clock,
});

const kindOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no failure',
    (error: unknown) => (error instanceof GatewayFailure ? `${error.kind}: ${error.detail}` : 'another error'),
  );

describe('the entry point', () => {
  it.each([
    ['https://gateway.example/base', undefined, { host: 'gateway.example', port: 443, via: 'gateway' }],
    ['http://[::1]:8081', undefined, { host: '::1', port: 8081, via: 'gateway' }],
    ['https://gateway.example', 'http://user:secret@proxy.example', { host: 'proxy.example', port: 80, via: 'proxy' }],
  ])('of %s by way of %s', (baseUrl, proxy, expected) => {
    const settings = { baseUrl: new URL(baseUrl), ...(proxy === undefined ? {} : { proxy: new URL(proxy) }) };
    expect(entryPointOf(settings)).toEqual(expected);
  });
});

describe('looking a gateway up', () => {
  it('fails for a name that cannot be', async () => {
    expect(await kindOf(lookUp({ host: 'no-such-host.invalid', port: 1, via: 'gateway' }))).toMatch(
      /^transient: .*\(E/,
    );
  });
});

describe('reaching a gateway', () => {
  const bounds = { signal, timeoutMs: 1_000 };

  it('opens a connection and leaves none', async () => {
    const server = until(await LoopbackServer.tcp(() => undefined));
    await reach({ host: '127.0.0.1', port: server.port, via: 'gateway' }, { ...bounds, clock });
    await server.idle();
    expect(server.connections).toBe(1);
  });

  it('ends when the caller gives up', async () => {
    const asked = { ...bounds, clock, signal: AbortSignal.abort() };
    const server = until(await LoopbackServer.tcp(() => undefined));
    expect(await kindOf(reach({ host: '127.0.0.1', port: server.port, via: 'gateway' }, asked))).toMatch(/^aborted/);
  });
});

describe('shaking hands', () => {
  const serve = async (): Promise<{ server: LoopbackServer; pin: string }> => {
    const certificate = authority.issue({ names: ['127.0.0.1'], notAfter: YEAR_2031 });
    const server = until(await LoopbackServer.https(certificate, () => expect('a request').toBe('not sent')));
    return { server, pin: `sha256/${certificate.spkiSha256}` };
  };
  const shake = ({ port }: LoopbackServer, overrides: Partial<MerchantGateway>): ReturnType<typeof shakeHands> =>
    shakeHands(gatewayAt(`https://127.0.0.1:${port}`, overrides), { clock, signal });

  it('shows the chain with its ends, the own certificate first', async () => {
    const { server, pin } = await serve();
    expect(await shake(server, { tls: { ca, pins: [pin] } })).toBe('TLSv1.3');
    const gateway = gatewayAt(`https://127.0.0.1:${server.port}`, { tls: { ca, pins: [] } });
    const chain = await presentedChain(gateway, { clock, signal });
    expect(chain.map(({ endsAt }) => new Date(endsAt).toISOString().slice(0, 10))).toEqual([
      '2031-05-06',
      '2049-01-01',
    ]);
    expect(chain[0]?.pin).toBe(pin);
  });

  it('is refused for another pin', async () => {
    const { server } = await serve();
    const tls = { ca, pins: [`sha256/${Buffer.alloc(32).toString('base64')}`] };
    expect(await kindOf(shake(server, { tls }))).toMatch(/^refused: .*PIN_MISMATCH/);
  });

  it('is given up when the other side is silent', async () => {
    const server = until(await LoopbackServer.tcp(() => undefined));
    const silent = kindOf(shake(server, { tls: { ca, pins: [] }, timeoutMs: 1_000 }));
    await clock.advance(1_000);
    expect(await silent).toBe('timeout: no connection after 1000 ms');
  });
});

describe('asking plainly', () => {
  const ask = async (listener: RequestListener, path = ''): Promise<PlainAnswer> => {
    const server = until(await LoopbackServer.http(listener));
    return askPlainly(tools(), { gateway: gatewayAt(`http://127.0.0.1:${server.port}${path}`), signal });
  };

  it('sends a GET of the base path without anything of the merchant, and takes any answer', async () => {
    const seen: string[] = [];
    const answer = await ask((request, response) => {
      seen.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
      response.writeHead(404).end();
    }, '/base');
    expect(answer.httpStatus).toBe(404);
    expect(seen).toEqual([expect.stringMatching(/^GET \/base\/ /)]);
    expect(seen[0]).not.toMatch(/c0ffee00|content-type|x-api_version/);
  });

  it('knows a page for people', async () => {
    const page = await ask((_request, response) => void response.setHeader('content-type', 'text/html').end('<html>'));
    expect(page.isHtml).toBe(true);
  });

  it.each([
    ['a broker', { type: 'urn:session-broker:problem:unauthenticated', code: 'unauthenticated' }, true],
    ['an egress, to a create call', { serviceId: 'session-egress', msgCode: 'b_invalid_request' }, true],
    ['a gateway', { serviceId: 'api-gateway', msgCode: 'b_invalid_request' }, false],
  ])('knows whether it is one of ours that answers: %s', async (_who, body, expected) => {
    expect((await ask((_request, response) => void response.end(JSON.stringify(body)))).isOurs).toBe(expected);
  });

  it('compares the clocks', async () => {
    const ahead = await ask((_request, response) => {
      response.setHeader('date', 'Thu, 01 Jan 2026 00:01:00 GMT').end();
    });
    expect(ahead.skew).toEqual({ leastMs: 60_000, likelyMs: 60_500, mostMs: 61_000 });
    const silent = await ask((_request, response) => {
      response.sendDate = false;
      response.end();
    });
    expect(silent).toEqual({ httpStatus: 200, isHtml: false, isOurs: false });
  });
});

async function inspect(content: unknown): Promise<SessionInspection> {
  const body = JSON.stringify({ jwe: await party.seal(content) });
  const { port } = until(await LoopbackServer.http((_request, response) => response.end(body)));
  return inspectSession(tools(), { gateway: gatewayAt(`http://127.0.0.1:${port}`), signal });
}

const tokens = { authToken: AUTH_TOKEN, deviceId: DEVICE_ID };

describe('an inspected session', () => {
  it('tells the short form from one that is neither', async () => {
    const key = serverPublicOf(bank);
    expect((await inspect({ ...tokens, serverPublicKey: key })).form).toBe('short');
    expect((await inspect({ ...tokens, serverPublicKey: key, refreshToken: AUTH_TOKEN })).form).toBe('mixed');
    expect((await inspect(tokens)).form).toBe('mixed');
  });

  it('shows no name that could be more than one', async () => {
    const inspection = await inspect({ ...tokens, serverPublicKey: serverPublicOf(bank), 'a name\nof lines': 1 });
    expect(inspection).toMatchObject({ unnamed: 1, fields: ['authToken', 'deviceId', 'serverPublicKey'] });
  });

  it('is reported even when it is not usable, with the reason', async () => {
    const { fields, session } = await inspect({ ...tokens, serverPublic: { kty: 'EC' } });
    expect(fields).toContain('serverPublic');
    expect(session).toBeInstanceOf(GatewayFailure);
  });

  it('has no fields when it is not an object', async () => {
    expect(await inspect([1])).toMatchObject({ fields: [], session: { kind: 'invalid_response' } });
  });
});
