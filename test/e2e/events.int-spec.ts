import { endedAfterEach, eventually } from '#libs/testing';
import { RawConnection } from '../egress/raw-exchange.js';
import { bodyOf, call, problem } from './call.js';
import { EventStream } from './event-stream.js';
import { type BrokerSetUp, RunningBroker, TOKENS } from './running-broker.js';

const SESSION = '/v1/merchants/shop/session';
const EVENTS = `${SESSION}/events`;

describe('following a session by events', () => {
  const started = endedAfterEach();
  const start = async (setUp: BrokerSetUp = {}): Promise<RunningBroker> =>
    started.add(await RunningBroker.start(setUp), (it) => it.close());
  const follow = async ({ url }: RunningBroker, headers: Record<string, string> = {}): Promise<EventStream> => {
    const own = { authorization: `Bearer ${TOKENS.payments}`, ...headers };
    return started.add(await EventStream.open(url + EVENTS, own), (it) => it.vanish());
  };
  const reject = async (running: RunningBroker, generation: unknown): Promise<number> =>
    (await running.post(`${SESSION}/rejections`, { generation }).then(bodyOf<{ generation: number }>)).generation;

  it('gives the session now, in the one shape of a session, and each new one as soon as there is one', async () => {
    const running = await start();
    const stream = await follow(running);
    const first = await stream.next();
    const session = await running.get(SESSION).then(bodyOf<{ generation: number }>);
    const { generation } = session;
    const left = { expiresInMs: expect.any(Number), renewInMs: expect.any(Number) };
    expect(first).toEqual({ id: String(generation), session: { ...session, ...left } });
    const newer = await reject(running, generation);
    expect((await stream.next())?.session['generation']).toBe(newer);
    // An id that nobody has issued counts as none: it is one of another installation.
    const stranger = await follow(running, { 'last-event-id': String(newer + 3_600_000) });
    expect((await stranger.next())?.id).toBe(String(newer));
  });

  it('takes no more watchers than its setting allows, a HEAD not counted, and gives the place of one that vanished to another', async () => {
    const running = await start({ http: 'maxWatchers: 1' });
    const headers = { authorization: `Bearer ${TOKENS.checkout}` };
    const head = async (): Promise<void> => {
      const said = { 'content-type': expect.stringContaining('event-stream') as string };
      expect(await call(running.url + EVENTS, { method: 'HEAD', headers })).toMatchObject({
        status: 200,
        headers: said,
      });
    };
    for (const _ of [1, 2]) await head();
    const only = await follow(running);
    expect(only.response.status).toBe(200);
    await head();
    const refused = { ...problem(503, 'overloaded'), headers: { 'retry-after': '5' } };
    expect(await running.get(EVENTS)).toMatchObject(refused);
    only.vanish();
    await eventually(async () => (await follow(running)).response.status === 200);
  });
});

describe('a replica that shuts down', () => {
  it('answers at once who waits for the next session', async () => {
    const broker = await RunningBroker.start();
    const etag = (await broker.get(SESSION, { prefer: 'wait=60' })).headers['etag'] ?? '';
    const held = broker.get(SESSION, { 'if-none-match': etag, prefer: 'wait=60' });
    // The list is answered after the waiting request has been accepted on its own connection.
    await broker.get('/v1/merchants');
    await broker.close();
    expect((await held).status).toBe(304);
  });

  it.each([
    ['was opened and never used', ''],
    ['stopped in the middle of its headers', 'GET /v1/merchants HTTP/1.1\r\nHost: '],
  ])('does not wait for a connection that %s', async (_what, sent) => {
    const broker = await RunningBroker.start();
    const connection = await RawConnection.to(broker.url);
    connection.write(sent);
    // Answered after the other connection has been accepted.
    await broker.get('/v1/merchants');
    await broker.close();
    await eventually(() => connection.isClosed);
  });
});
