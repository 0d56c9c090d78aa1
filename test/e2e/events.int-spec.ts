import { request } from './http-request.js';
import { eventually } from '#libs/testing';
import { EventStream } from './event-stream.js';
import { type BrokerSetUp, problem, RunningBroker, TOKENS } from './running-broker.js';

const SESSION = '/v1/merchants/shop/session';
const EVENTS = `${SESSION}/events`;

describe('following a session by events', () => {
  let broker: RunningBroker | undefined;
  const streams: EventStream[] = [];

  const start = async (setUp: BrokerSetUp = {}): Promise<RunningBroker> => {
    broker = await RunningBroker.start(setUp);
    return broker;
  };
  const follow = async ({ url }: RunningBroker, headers: Record<string, string> = {}): Promise<EventStream> => {
    const stream = await EventStream.open(url + EVENTS, { authorization: `Bearer ${TOKENS.payments}`, ...headers });
    streams.push(stream);
    return stream;
  };
  const reject = async (running: RunningBroker, generation: unknown): Promise<number> => {
    const asked = running.as(TOKENS.payments).post(`${SESSION}/rejections`).send({ generation });
    const { body } = await asked.expect(200);
    return (body as { generation: number }).generation;
  };

  afterEach(async () => {
    for (const stream of streams.splice(0)) stream.vanish();
    await broker?.close();
    broker = undefined;
  });

  it('gives the session now, in the one shape of a session, and each new one as soon as there is one', async () => {
    const running = await start();
    const stream = await follow(running);
    const first = await stream.next();
    const { body } = await running.as(TOKENS.checkout).get(SESSION).expect(200);
    const { generation } = body as { generation: number };
    expect(first).toEqual({ id: String(generation), session: body });
    const newer = await reject(running, generation);
    expect((await stream.next())?.session['generation']).toBe(newer);
  });

  it('says in its headers that nothing on the way may keep or collect it', async () => {
    const { response } = await follow(await start(), { 'x-request-id': 'follow-1' });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
      'x-request-id': 'follow-1',
    });
  });

  it('does not repeat what Last-Event-ID names', async () => {
    const running = await start();
    const held = await (await follow(running)).next();
    const again = await follow(running, { 'last-event-id': held?.id ?? '' });
    const newer = await reject(running, Number(held?.id));
    expect((await again.next())?.session['generation']).toBe(newer);
  });

  it('takes a Last-Event-ID that nobody has issued for none, as one of another installation is', async () => {
    const running = await start();
    const held = await (await follow(running)).next();
    const stranger = await follow(running, { 'last-event-id': String(Number(held?.id) + 3_600_000) });
    expect(await stranger.next()).toEqual(held);
  });

  it('tells a thousand watchers of one create call', async () => {
    const running = await start();
    const watching = await Promise.all(Array.from({ length: 1_000 }, () => follow(running)));
    const [first] = await Promise.all(watching.map((stream) => stream.next()));
    const newer = await reject(running, Number(first?.id));
    const events = await Promise.all(watching.map((stream) => stream.next()));
    expect(new Set(events.map((event) => event?.session['generation']))).toEqual(new Set([newer]));
    expect(await running.createCalls()).toBe(3);
  });

  it('waits for the first session, and gives it once the gateway has come back', async () => {
    const running = await start({
      faults: [{ kind: 'error', status: 503, operation: 'authorize', times: 1 }],
      timeout: '500ms',
    });
    const event = await (await follow(running)).next();
    expect(event?.session['merchant']).toBe('shop');
  });

  it('is refused to those who may not read, without a word on whether the merchant exists', async () => {
    const running = await start();
    await request(running.url).get(EVENTS).expect(401);
    const answerFor = async (merchant: string): Promise<unknown> => {
      const asked = running.as(TOKENS.checkout).get(`/v1/merchants/${merchant}/session/events`);
      return (await asked.set('x-request-id', 'same').expect(403)).body;
    };
    expect(await answerFor('hidden')).toEqual(await answerFor('unknown'));
  });

  it('takes no more watchers than its setting allows, and gives the place of one that vanished to another', async () => {
    const running = await start({ http: 'maxWatchers: 1' });
    const only = await follow(running);
    const refused = running.as(TOKENS.checkout).get(EVENTS).expect(503);
    await refused.expect('retry-after', '5').expect(problem('overloaded'));
    only.vanish();
    await eventually(async () => (await follow(running)).response.status === 200);
  });

  it('tells what it would be to a HEAD, which takes nobody’s place', async () => {
    const running = await start({ http: 'maxWatchers: 1' });
    for (const _ of [1, 2])
      await running
        .as(TOKENS.checkout)
        .head(EVENTS)
        .expect(200)
        .expect('content-type', /event-stream/);
    expect((await follow(running)).response.status).toBe(200);
    await running.as(TOKENS.checkout).head(EVENTS).expect(200);
  });

  it('ends in good order at shutdown, so that its consumer turns to another replica', async () => {
    const running = await start();
    const stream = await follow(running);
    await stream.next();
    const closing = running.close();
    broker = undefined;
    expect(await stream.next()).toBeUndefined();
    await closing;
  });
});
