import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Agent, request as requestTls } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { generateClientKey, importPaymentKey, sealJwe } from '#libs/jwe';
import {
  endedAfterEach,
  eventually,
  LASTING_SESSION_MS,
  TestAuthority,
  type TestCertificate,
  TestIssuer,
} from '#libs/testing';
import { type Answer, bodyOf, call } from './call.js';
import { EventStream } from './event-stream.js';
import { type BrokerSetUp, RunningBroker, SERVICE_CODE, TOKENS } from './running-broker.js';

const SESSION = '/v1/merchants/shop/session';
const KIOSK_CODE = '137d9304-0368-11ed-b939-0242ac120004';
const KIOSK = '/v1/merchants/kiosk/session';
const HIDDEN = '/v1/merchants/hidden/session';
const DECRYPT = '/v1/merchants/shop/payloads/decrypt';
const CALLER = 'reports.shop.example';
const KEY_FILES = '[shop.jwk.json, shop-older.jwk.json]';

type Key = Awaited<ReturnType<typeof generateClientKey>>;

describe('a running broker whose files change', () => {
  let broker: RunningBroker;
  const started = endedAfterEach();

  const start = async (setUp: BrokerSetUp = {}): Promise<void> => {
    broker = started.add(await RunningBroker.start(setUp), (it) => it.close());
  };

  const put = (name: string, content: string): Promise<void> =>
    writeFile(join(broker.folder, name), content, { mode: 0o600 });
  const putKey = (name: string, { privateJwk }: Key): Promise<void> => put(name, JSON.stringify(privateJwk));
  const generation = async (path = SESSION, token?: string): Promise<unknown> =>
    (await broker.get(path, { prefer: 'wait=60' }, token).then(bodyOf))['generation'];
  const reject = (rejected: unknown): Promise<Answer['body']> =>
    broker.post(`${SESSION}/rejections`, { generation: rejected }).then(bodyOf);
  const statusOf = async (path: string, token: string): Promise<number> => (await broker.get(path, {}, token)).status;
  const onboard = (id: string, serviceCode: string, { publicJwk }: Key): Promise<unknown> =>
    broker.control('POST', '/merchants', { id, serviceCode, publicJwk, lifetimeMs: LASTING_SESSION_MS });

  /** The bank and the broker get another key of the shop, and the broker has none of those before. */
  async function replaceKey(): Promise<Key> {
    const next = await generateClientKey();
    await onboard('shop', SERVICE_CODE, next);
    await putKey('shop.jwk.json', next);
    await broker.edit([KEY_FILES, '[shop.jwk.json]']);
    await broker.reload();
    return next;
  }

  async function addKiosk(): Promise<void> {
    const key = await generateClientKey();
    await onboard('kiosk', KIOSK_CODE, key);
    await putKey('kiosk.jwk.json', key);
    const gateway = `gateway: { baseUrl: '${broker.sandboxUrl}', environment: test, timeout: 60s }`;
    await broker.edit([
      'merchants:\n',
      `merchants:\n  - { id: kiosk, serviceCode: ${KIOSK_CODE}, clientKeyFiles: [kiosk.jwk.json], ${gateway} }\n`,
    ]);
    await broker.reload();
  }

  it('serves a new merchant, and none that is removed, at one create call and without any for the others', async () => {
    await start();
    const before = await generation();
    await generation(HIDDEN, TOKENS.admin);
    expect(await statusOf(KIOSK, TOKENS.admin)).toBe(404);
    await addKiosk();
    await generation(KIOSK, TOKENS.admin);
    expect((await fetch(`${broker.managementUrl}/readyz`)).status).toBe(200);
    const headers = { authorization: `Bearer ${TOKENS.admin}` };
    const stream = await EventStream.open(`${broker.url}${KIOSK}/events`, headers);
    expect((await stream.next())?.session['merchant']).toBe('kiosk');
    await broker.edit(['  - { id: kiosk', '#']);
    await broker.reload();
    expect(await stream.next()).toBeUndefined();
    expect(await statusOf(KIOSK, TOKENS.admin)).toBe(404);
    expect([await generation(), await broker.createCalls()]).toEqual([before, 3]);
  });

  it('opens payloads of the running session with its key, which is no longer configured, and makes no create call', async () => {
    await start();
    const before = await generation();
    await generation(HIDDEN, TOKENS.admin);
    const session = await broker.get(SESSION).then(bodyOf);
    const oldKey = await broker.get('/v1/merchants/shop/client-key').then(bodyOf);
    const next = await replaceKey();
    const jwe = await sealJwe(Buffer.from('paid'), await importPaymentKey(oldKey['jwk']), { maxBytes: 100 });
    expect(await broker.post(DECRYPT, { jwe }).then(bodyOf)).toEqual({ plaintext: 'paid', encoding: 'utf8' });
    expect(await generation()).toBe(before);
    expect(await broker.createCalls()).toBe(2);
    const newer = await reject(before);
    expect(newer['clientKeyThumbprint']).toBe(next.thumbprint);
    expect(newer['clientKeyThumbprint']).not.toBe(session['clientKeyThumbprint']);
  });

  it('tells in the list and on the page that a change is refused or waits for the next start, and no longer than that', async () => {
    await start();
    const listed = async (): Promise<unknown> => (await broker.get('/v1/merchants').then(bodyOf))['configuration'];
    expect(await listed()).toBeUndefined();
    await broker.edit(['{ type: memory }', '{ type: memory, keyPrefix: x }']);
    await broker.reload();
    await broker.edit(['level: debug', 'level: loud']);
    await broker.reload();
    expect(await listed()).toEqual({
      refusedSince: expect.stringMatching(/Z$/) as string,
      faults: 1,
      firstFault: 'log.level',
      awaitingRestart: ['store'],
      advice: 'nothing to do tonight: restart in office hours, once session-broker doctor is green',
      runbook: 'config-reload-failed',
    });
    const page = await call(`${broker.managementUrl}/status.json`).then(bodyOf);
    expect(page).toMatchObject({ replica: { refusedChange: { faults: 1 }, awaitingRestart: ['store'] } });
    await broker.edit(['level: loud', 'level: debug'], ['{ type: memory, keyPrefix: x }', '{ type: memory }']);
    await broker.reload();
    expect(await listed()).toBeUndefined();
  });

  /** Once these are answered, the requests before them have been let in: each took the same path, one after the other. */
  const letIn = async (ask: () => PromiseLike<unknown>): Promise<void> => {
    for (let turn = 0; turn < 5; turn += 1) await ask();
  };

  it('gives no session that is created later to who waits and is removed, by its token or its policy', async () => {
    await start();
    const held = await generation();
    const polls = [TOKENS.checkout, TOKENS.admin, TOKENS.payments].map((token) =>
      broker.get(SESSION, { prefer: 'wait=60', 'if-none-match': `"${String(held)}"` }, token),
    );
    const answers = Promise.all(polls);
    await letIn(() => broker.get(SESSION));
    await broker.edit(
      [hash('sha256', TOKENS.checkout), hash('sha256', 'another')],
      ["caller: admin, merchants: ['*']", 'caller: admin, merchants: [hidden]'],
    );
    await broker.reload();
    await reject(held);
    expect((await answers).map(({ status, text }) => [status, text.includes('authToken')])).toEqual([
      [401, false],
      [403, false],
      [200, true],
    ]);
  });

  it('ends the stream of a caller whose key is gone at once, and remembers its token no more; others follow on', async () => {
    const [one, two] = [new TestIssuer('one'), new TestIssuer('two')];
    const keysOf = (...issuers: readonly TestIssuer[]): string =>
      JSON.stringify({ keys: issuers.map(({ publicJwk }) => publicJwk) });
    await start({
      auth: [`jwt: { issuer: '${TestIssuer.ISSUER}', audience: ${TestIssuer.AUDIENCE}, jwksFile: jwks.json }`],
      callers: [TestIssuer.SUBJECT],
      files: { 'jwks.json': keysOf(one, two) },
    });
    const held = await generation();
    const tokens = [one.token(Date.now()), two.token(Date.now())] as const;
    const follow = (token: string): Promise<EventStream> =>
      EventStream.open(`${broker.url}${SESSION}/events`, { authorization: `Bearer ${token}` });
    const [removed, stays] = [await follow(tokens[0]), await follow(tokens[1])];
    expect([(await removed.next())?.id, (await stays.next())?.id]).toEqual([`${String(held)}`, `${String(held)}`]);
    await put('jwks.json', keysOf(two));
    await broker.reload();
    expect(await removed.next()).toBeUndefined();
    expect([await statusOf(SESSION, tokens[0]), await statusOf(SESSION, tokens[1])]).toEqual([401, 200]);
    await reject(held);
    expect(Number((await stays.next())?.id)).toBeGreaterThan(Number(held));
    stays.vanish();
  });

  describe('and that speaks TLS', () => {
    const authority = new TestAuthority();
    const first = authority.issue({ names: ['127.0.0.1'] });
    const client = authority.issue({ names: [CALLER] });
    const agents: Agent[] = [];
    afterEach(() => agents.splice(0).forEach((agent) => agent.destroy()));

    const startTls = (ca = authority.cert): Promise<void> =>
      start({
        http: 'tls: { certFile: tls.crt, keyFile: tls.key, clientCaFile: ca.pem }',
        auth: ['mtls: true'],
        callers: [CALLER],
        files: { 'tls.crt': first.cert, 'tls.key': first.key, 'ca.pem': ca },
      });
    const agentOf = ({ cert, key }: TestCertificate): Agent => {
      const agent = new Agent({ ca: authority.cert, cert, key, keepAlive: true, maxSockets: 1 });
      agents.push(agent);
      return agent;
    };
    interface Told {
      readonly status: number | undefined;
      readonly port: number | undefined;
      readonly fingerprint: string | undefined;
    }
    const ask = (agent: Agent): Promise<Told> =>
      new Promise((resolve, reject) => {
        requestTls(broker.url + SESSION, { agent, headers: { prefer: 'wait=60' } }, (response) => {
          const socket = response.socket as TLSSocket;
          const { localPort: port } = socket;
          const fingerprint = socket.getPeerX509Certificate()?.fingerprint256;
          response.resume().on('end', () => resolve({ status: response.statusCode, port, fingerprint }));
        })
          .on('error', reject)
          .end();
      });

    it('shows a new certificate to new connections, and leaves the others alone', async () => {
      await startTls();
      const agent = agentOf(client);
      const before = await ask(agent);
      const next = authority.issue({ names: ['127.0.0.1'] });
      await put('tls.crt', next.cert);
      await put('tls.key', next.key);
      await broker.reload();
      const { fingerprint: _, ...same } = before;
      expect(await ask(agent)).toMatchObject(same);
      const other = await ask(agentOf(client));
      expect([other.status, other.fingerprint === before.fingerprint]).toEqual([200, false]);
    });

    it('ends the connections of an authority that is no longer trusted, gives those who wait nothing, and knows the others', async () => {
      const [gone, next] = [new TestAuthority('gone'), new TestAuthority('next')];
      await startTls(gone.cert + authority.cert);
      const names = [CALLER];
      const idle = agentOf(gone.issue({ names }));
      const before = await ask(idle);
      expect(before.status).toBe(200);
      const asked = { ca: authority.cert, headers: { authorization: `Bearer ${TOKENS.payments}` } };
      const held = (await call(broker.url + SESSION, asked)).body['generation'];
      const headers = { prefer: 'wait=60', 'if-none-match': `"${String(held)}"` };
      const polls = [gone.issue({ names }), client].map((identity) =>
        call(broker.url + SESSION, { ca: authority.cert, headers, ...identity }),
      );
      await letIn(() => call(broker.url + SESSION, asked));
      await put('ca.pem', authority.renewed() + next.cert);
      await broker.reload();
      const rejection = { ...asked, body: { generation: held } };
      expect((await call(`${broker.url}${SESSION}/rejections`, rejection)).status).toBe(200);
      const answers = await Promise.all(polls);
      expect(answers.map(({ status, body }) => [status, 'authToken' in body])).toEqual([
        [401, false],
        [200, true],
      ]);
      await eventually(() => Object.keys(idle.freeSockets).length === 0);
      const after = await ask(idle);
      expect(after.status).toBe(401);
      expect(after.port).not.toBe(before.port);
      expect((await ask(agentOf(next.issue({ names })))).status).toBe(200);
    });
  });
});
