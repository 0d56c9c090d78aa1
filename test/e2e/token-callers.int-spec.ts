import { once } from 'node:events';
import { get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { endedAfterEach, eventually, LoopbackServer, TestIssuer } from '#libs/testing';
import { type Answer, problem } from './call.js';
import { EventStream } from './event-stream.js';
import { type BrokerSetUp, RunningBroker, TOKENS } from './running-broker.js';

const SESSION = '/v1/merchants/shop/session';
const { ISSUER, AUDIENCE, SUBJECT } = TestIssuer;

type Answering = (request: IncomingMessage, response: ServerResponse) => void;

describe('callers with tokens of an issuer', () => {
  const one = new TestIssuer('one');
  const stranger = new TestIssuer('one');
  let endpoint: { readonly requests: IncomingMessage[]; answer: Answering; server: LoopbackServer };
  let broker: RunningBroker;

  const started = endedAfterEach();
  const start = async (jwt: string, setUp: BrokerSetUp = {}): Promise<void> => {
    const auth = [`jwt: { issuer: '${ISSUER}', audience: ${AUDIENCE}, ${jwt} }`];
    broker = started.add(await RunningBroker.start({ auth, callers: [SUBJECT], ...setUp }), (it) => it.close());
  };
  const read = (token: string): Promise<Answer> => broker.get(SESSION, { prefer: 'wait=60' }, token);
  const isLetIn = async (token: string): Promise<void> => expect((await read(token)).status).toBe(200);
  const jwksUri = (): string => `jwksUri: 'http://127.0.0.1:${endpoint.server.port}/jwks'`;

  const publishing: Answering = (_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [one.publicJwk] }));
  };

  beforeEach(async () => {
    const requests: IncomingMessage[] = [];
    const listen = LoopbackServer.http((request, response) => {
      requests.push(request);
      endpoint.answer(request, response);
    });
    endpoint = { requests, answer: publishing, server: started.add(await listen, (it) => it.close()) };
  });

  it('that could not be let in are in the log before any of them calls, with what to do, and nobody waits for it', async () => {
    // Nobody answers, as when a network policy drops what is sent.
    endpoint.answer = () => undefined;
    await start(jwksUri());
    await isLetIn(TOKENS.checkout);
    const told = (): string[] => broker.lines.filter((line) => line.includes('cannot be had'));
    expect(told()).toEqual([]);
    await endpoint.server.close();
    await eventually(() => told().length === 1);
    expect(JSON.parse(told()[0] ?? '')).toMatchObject({
      level: 'warn',
      msg: expect.stringContaining('no token of it is accepted until they come'),
      runbook: 'authentication-unavailable',
      error: { code: 'authentication_unavailable', detail: expect.stringMatching(/127\.0\.0\.1:\d+ broke .*; see /) },
    });
  });

  it('are let in under their subject, by keys that are given for a token, and fetched as soon as the issuer changes', async () => {
    await start(`${jwksUri()}, jwksTokenFile: token`, { files: { token: 'token-for-the-keys\n' } });
    const token = one.token(Date.now());
    await isLetIn(token);
    expect(endpoint.requests[0]?.headers.authorization).toBe('Bearer token-for-the-keys');
    expect(broker.lines.join('')).not.toContain('token-for-the-keys');
    const headers = { 'www-authenticate': 'Bearer realm="session-broker", error="insufficient_scope"' };
    const rejection = await broker.post(`${SESSION}/rejections`, { generation: 1 }, token);
    expect(rejection).toMatchObject({ ...problem(403, 'forbidden'), headers });
    await broker.edit(['/jwks', '/other']);
    await broker.reload();
    await eventually(() => endpoint.requests.some(({ url }) => url === '/other'));
  });

  it('are refused without a word on why, and nothing of the token is logged', async () => {
    await start(jwksUri());
    const now = Math.floor(Date.now() / 1_000);
    const refused = [
      one.token(Date.now(), { exp: now - 60 }),
      stranger.token(Date.now()),
      'x'.repeat(7_000),
      'two words',
    ];
    const headers = { 'www-authenticate': 'Bearer realm="session-broker", error="invalid_token"' };
    for (const token of refused)
      expect(await read(token)).toMatchObject({ ...problem(401, 'unauthenticated'), headers });
    const log = broker.lines.join('');
    for (const part of refused.flatMap((token) => token.split('.'))) expect(log).not.toContain(part.slice(0, 40));
    for (const reason of ['expired', 'signature', 'malformed']) expect(log).toContain(`credential refused: ${reason}`);
  });

  it('that have gone while their keys were fetched take no place among those who follow, and hold up no renewal', async () => {
    endpoint.answer = (_request, response) => void held.push(response);
    const held: ServerResponse[] = [];
    await start(jwksUri(), { http: 'maxWatchers: 3' });
    await eventually(() => held.length === 1);
    const path = `${SESSION}/events?handover=true`;
    const headers = { authorization: `Bearer ${one.token(Date.now())}` };
    const gone = Array.from({ length: 5 }, () => get(broker.url + path, { headers, agent: false }));
    const left = gone.map((asked) => new Promise((resolve) => asked.once('error', resolve)));
    await Promise.all(
      gone.map(async (asked) => once(await once(asked, 'socket').then(([socket]) => socket as Socket), 'ready')),
    );
    // Once these are answered, the broker has read the others too: their connections were made earlier.
    for (const _ of [1, 2]) await isLetIn(TOKENS.checkout);
    for (const asked of gone) asked.destroy();
    await Promise.all(left);
    for (const _ of [1, 2]) await isLetIn(TOKENS.checkout);
    endpoint.answer = publishing;
    for (const response of held) endpoint.answer(response.req, response);
    await isLetIn(one.token(Date.now()));
    const honest = await EventStream.open(broker.url + path, headers);
    expect(honest.response.status).toBe(200);
    honest.vanish();
  });

  it('wait while the issuer redirects, which is not followed, and others do not; they are let in when it is back', async () => {
    endpoint.answer = (request, response) => {
      if (request.url !== '/jwks') publishing(request, response);
      else response.writeHead(302, { location: '/elsewhere' }).end();
    };
    await start(jwksUri());
    const token = one.token(Date.now());
    const unknown = { ...problem(503, 'authentication_unavailable'), headers: { 'retry-after': '1' } };
    expect(await read(token)).toMatchObject(unknown);
    await isLetIn(TOKENS.checkout);
    endpoint.answer = publishing;
    // A failure to get the keys is remembered for a second.
    await eventually(async () => (await read(token)).status === 200);
  });
});
