import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endedAfterEach, TestAuthority, TestIssuer } from '#libs/testing';
import { callTls, type TlsAnswer } from './call-tls.js';
import { EventStream } from './event-stream.js';
import { type BrokerSetUp, RunningBroker, TOKENS } from './running-broker.js';

const SESSION = '/v1/merchants/shop/session';
const { ISSUER, AUDIENCE, SUBJECT } = TestIssuer;

interface Told {
  readonly status: number;
  readonly text: string;
}

describe('a caller that is removed while it waits', () => {
  let broker: RunningBroker;
  const started = endedAfterEach();
  const start = async (setUp: BrokerSetUp = {}): Promise<void> => {
    broker = started.add(await RunningBroker.start(setUp), (it) => it.close());
  };
  const put = (name: string, content: string): Promise<void> =>
    writeFile(join(broker.folder, name), content, { mode: 0o600 });
  const generation = async (): Promise<number> => {
    const answer = await broker.get(SESSION, { prefer: 'wait=60' }, TOKENS.payments);
    return ((await answer.json()) as { generation: number }).generation;
  };
  /**
   * Once these are answered, the requests before them have been let in: each took the same path, one after the other.
   */
  const others = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn += 1) await broker.get(SESSION, { prefer: 'wait=60' }, TOKENS.payments);
  };
  const renew = async (rejected: number): Promise<void> => {
    const answer = await broker.post(`${SESSION}/rejections`, { generation: rejected });
    expect(answer.status).toBe(200);
  };
  const told = async (answer: Promise<Response>): Promise<Told> => {
    const { status, text } = await answer.then(async (it) => ({ status: it.status, text: await it.text() }));
    return { status, text };
  };
  const poll = (held: number, token: string): Promise<Told> =>
    told(broker.get(SESSION, { prefer: 'wait=60', 'if-none-match': `"${held}"` }, token));

  const sha256 = (token: string): string => createHash('sha256').update(token).digest('hex');

  it.each<[string, number, [string, string]]>([
    ['token', 401, [sha256(TOKENS.checkout), sha256('another')]],
    ['policy', 403, ['caller: checkout, merchants: [shop]', 'caller: checkout, merchants: [hidden]']],
  ])('by its %s is not given the session that is created after that', async (_what, status, change) => {
    await start();
    const held = await generation();
    const polls = [poll(held, TOKENS.checkout), poll(held, TOKENS.admin)];
    await others();
    await broker.edit(change);
    await broker.reload();
    await renew(held);
    const [removed, stays] = await Promise.all(polls);
    expect(removed?.status).toBe(status);
    expect(removed?.text).not.toContain('authToken');
    expect([stays?.status, stays?.text.includes('authToken')]).toEqual([200, true]);
  });

  it('by its authority is not given the session that is created after that, and others are', async () => {
    const [gone, stays] = [new TestAuthority('gone'), new TestAuthority('stays')];
    const server = stays.issue({ names: ['127.0.0.1'] });
    const ca = stays.cert;
    await start({
      http: 'tls: { certFile: tls.crt, keyFile: tls.key, clientCaFile: ca.pem }',
      auth: ['mtls: true'],
      callers: ['a.example', 'b.example'],
      files: { 'tls.crt': server.cert, 'tls.key': server.key, 'ca.pem': gone.cert + stays.cert },
    });
    const payments = { authorization: `Bearer ${TOKENS.payments}`, 'content-type': 'application/json' };
    const ask = (): Promise<TlsAnswer> =>
      callTls(broker.url + SESSION, { ca, headers: { prefer: 'wait=60', ...payments } });
    const { generation: held } = (await ask()).body;
    const headers = { prefer: 'wait=60', 'if-none-match': `"${String(held)}"` };
    const polls = [gone.issue({ names: ['a.example'] }), stays.issue({ names: ['b.example'] })].map((identity) =>
      callTls(broker.url + SESSION, { ca, headers, ...identity }),
    );
    for (let turn = 0; turn < 5; turn += 1) await ask();
    await put('ca.pem', stays.renewed());
    await broker.reload();
    const body = { generation: held };
    expect((await callTls(`${broker.url}${SESSION}/rejections`, { ca, headers: payments, body })).status).toBe(200);
    const answers = await Promise.all(polls);
    expect(answers.map(({ status }) => status)).toEqual([401, 200]);
    expect(answers.map(({ body: told }) => 'authToken' in told)).toEqual([false, true]);
  });

  it('by the key of its token loses its stream at once, and is remembered no more; others follow on', async () => {
    const [one, two] = [new TestIssuer('one'), new TestIssuer('two')];
    const keysOf = (...issuers: readonly TestIssuer[]): string =>
      JSON.stringify({ keys: issuers.map(({ publicJwk }) => publicJwk) });
    await start({
      auth: [`jwt: { issuer: '${ISSUER}', audience: ${AUDIENCE}, jwksFile: jwks.json }`],
      callers: [SUBJECT],
      files: { 'jwks.json': keysOf(one, two) },
    });
    const held = await generation();
    const tokens = [one.token(Date.now()), two.token(Date.now())];
    const follow = (token: string): Promise<EventStream> =>
      EventStream.open(`${broker.url}${SESSION}/events`, { authorization: `Bearer ${token}` });
    const [removed, stays] = [await follow(tokens[0] ?? ''), await follow(tokens[1] ?? '')];
    expect([(await removed.next())?.id, (await stays.next())?.id]).toEqual([`${held}`, `${held}`]);
    await put('jwks.json', keysOf(two));
    await broker.reload();
    expect(await removed.next()).toBeUndefined();
    const statuses = tokens.map(async (token) => (await told(broker.get(SESSION, {}, token))).status);
    expect(await Promise.all(statuses)).toEqual([401, 200]);
    await renew(held);
    expect(Number((await stays.next())?.id)).toBeGreaterThan(held);
    stays.vanish();
  });
});
