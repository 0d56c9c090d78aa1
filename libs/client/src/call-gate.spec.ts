import {
  aSessionDocument as aDocument,
  type EventFeed,
  FakeClock,
  json,
  ScriptedBroker,
} from '../../testing/src/index.js';
import { clientOf } from '../fixtures/client-of.js';
import type { ClientEvent } from './client-event.js';
import { ClientClosed } from './errors.js';
import type { SessionBrokerOptions } from './options.js';
import type { Session } from './session.js';
import type { SessionBroker } from './session-broker.js';

const NOTICE = { merchant: 'shop', generation: 2, holdForMs: 3_000, at: '2026-01-01T00:00:00.000Z', participant: 'me' };

/** A call that runs until it is let go. */
class Call {
  generation: number | undefined;
  #end: () => void = () => undefined;
  readonly #ended = new Promise<void>((resolve) => (this.#end = resolve));
  readonly paid: Promise<number>;

  constructor(broker: SessionBroker, signal?: AbortSignal) {
    const run = async ({ generation }: Session): Promise<number> => {
      this.generation = generation;
      await this.#ended;
      return generation;
    };
    this.paid = broker.withSession(run, { signal });
    // Tests that expect a failure check for it themselves.
    this.paid.catch(() => undefined);
  }

  letGo(): void {
    this.#end();
  }
}

describe('calls while a session is replaced', () => {
  let clock: FakeClock;
  let server: ScriptedBroker;
  let broker: SessionBroker;
  let feed: EventFeed;
  let events: ClientEvent[];

  const open = async (options: Partial<SessionBrokerOptions> = {}): Promise<void> => {
    const feeds = server.streaming();
    const onEvent = (event: ClientEvent): void => void events.push(event);
    broker = clientOf(server, clock, { follow: 'events', onEvent, ...options });
    await broker.session();
    await clock.settle();
    feed = feeds[0]!;
  };
  const tell = async (notice: Record<string, unknown> = {}): Promise<void> => {
    feed.handover({ ...NOTICE, ...notice });
    await clock.settle();
  };
  const begin = async (signal?: AbortSignal): Promise<Call> => {
    const call = new Call(broker, signal);
    await clock.settle();
    return call;
  };
  const reports = (): unknown[] => server.seen('handovers').map(({ body }) => JSON.parse(body ?? '') as unknown);
  const resumed = (): ClientEvent[] => events.filter(({ type }) => type === 'resumed');

  beforeEach(async () => {
    clock = new FakeClock();
    events = [];
    server = new ScriptedBroker().on('read', () => json(aDocument()));
    server.on('handovers', () => new Response(null, { status: 204 }));
    await open();
  });
  afterEach(() => broker.close());

  it('wait for the next session, and it is said at once that none is running', async () => {
    await tell();
    expect(reports()).toEqual([{ generation: 2, participant: 'me' }]);
    const held = await begin();
    expect(held.generation).toBeUndefined();
    feed.session(aDocument({ generation: 2 }));
    await clock.settle();
    expect(held.generation).toBe(2);
    expect(resumed()).toEqual([{ type: 'resumed', generation: 2, held: 1 }]);
    held.letGo();
  });

  it('that run already come to their end, and only then is it said that none is running', async () => {
    const [first, second] = [await begin(), await begin()];
    await tell();
    expect(events.at(-1)).toEqual({ type: 'holding', generation: 2, running: 2 });
    first.letGo();
    await clock.settle();
    expect(reports()).toEqual([]);
    second.letGo();
    await clock.settle();
    expect(reports()).toHaveLength(1);
    expect([await first.paid, await second.paid]).toEqual([1, 1]);
  });

  it('go on with the session there is when no other comes of it', async () => {
    await tell();
    const held = await begin();
    await tell({ holdForMs: 0 });
    expect(held.generation).toBe(1);
    expect(resumed()).toMatchObject([{ held: 1 }]);
    held.letGo();
  });

  it.each([
    ['as long as the broker says', { holdForMs: 3_000 }, 3_000],
    ['ten seconds, whatever the broker says', { holdForMs: 3_600_000 }, 10_000],
  ])('wait by their own clock for no longer than %s', async (_limit, notice, limitMs) => {
    await tell(notice);
    const held = await begin();
    await clock.advance(limitMs - 1);
    expect(held.generation).toBeUndefined();
    await clock.advance(1);
    expect(held.generation).toBe(1);
    expect(resumed()).toMatchObject([{ held: 1 }]);
    held.letGo();
  });

  it('wait no longer than a call may take', async () => {
    await broker.close();
    await open({ timeoutMs: 500 });
    await tell();
    const held = await begin();
    await clock.advance(500);
    expect(held.generation).toBe(1);
    held.letGo();
  });

  it('wait on when a second hand-over takes the place of the first', async () => {
    await tell();
    const held = await begin();
    await clock.advance(2_000);
    await tell({ generation: 4, participant: 'me again' });
    await tell({ generation: 2, holdForMs: 0 });
    await clock.advance(2_000);
    expect(held.generation).toBeUndefined();
    expect(reports()).toEqual([
      { generation: 2, participant: 'me' },
      { generation: 4, participant: 'me again' },
    ]);
    feed.session(aDocument({ generation: 4 }));
    await clock.settle();
    expect(held.generation).toBe(4);
    held.letGo();
  });

  it('do not wait for a hand-over that is over, nor for one that makes no sense', async () => {
    await tell();
    feed.session(aDocument({ generation: 2 }));
    await clock.settle();
    for (const notice of [{}, { generation: 1 }, { generation: 'x' }, { generation: 9, holdForMs: -1 }]) {
      await tell(notice);
    }
    const call = await begin();
    expect(call.generation).toBe(2);
    call.letGo();
  });

  it('can be given up by their caller, and end with the client', async () => {
    await tell();
    const gone = new AbortController();
    const [given, left] = [await begin(gone.signal), await begin()];
    gone.abort(new Error('the customer went away'));
    await expect(given.paid).rejects.toMatchObject({
      code: 'call_aborted',
      cause: { message: 'the customer went away' },
    });
    await broker.close();
    await expect(left.paid).rejects.toBeInstanceOf(ClientClosed);
    expect(clock.pendingTasks).toBe(0);
  });

  it('are not delayed when the report is lost', async () => {
    server.on('handovers', () => json({}, 503));
    await tell();
    const held = await begin();
    feed.session(aDocument({ generation: 2 }));
    await clock.settle();
    expect(held.generation).toBe(2);
    held.letGo();
  });

  it('report nothing that nobody wants to hear', async () => {
    await tell({ participant: undefined });
    expect(reports()).toEqual([]);
    expect(events.at(-1)).toMatchObject({ type: 'holding' });
  });

  it('leave reads of the session alone', async () => {
    await tell();
    expect((await broker.session()).generation).toBe(1);
  });
});
