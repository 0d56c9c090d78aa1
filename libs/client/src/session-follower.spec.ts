import { jest } from '@jest/globals';
import {
  aSessionDocument as aDocument,
  away,
  type EventFeed,
  FakeClock,
  json,
  problem,
  ScriptedBroker,
} from '../../testing/src/index.js';
import { clientOf } from '../fixtures/client-of.js';
import type { ClientEvent } from './client-event.js';
import type { SessionBrokerOptions } from './options.js';
import type { SessionBroker } from './session-broker.js';

describe('following the broker', () => {
  let clock: FakeClock;
  let server: ScriptedBroker;
  let broker: SessionBroker;
  let events: ClientEvent[];

  const open = (options: Partial<SessionBrokerOptions> = {}): SessionBroker => {
    events = [];
    const onEvent = (event: ClientEvent): void => void events.push(event);
    broker = clientOf(server, clock, { follow: 'events', onEvent, ...options });
    return broker;
  };
  const first = async (options: Partial<SessionBrokerOptions> = {}): Promise<void> => {
    await open(options).session();
    await clock.settle();
  };
  const stream = (text: string): Response => new Response(text, { headers: { 'content-type': 'text/event-stream' } });
  const generation = async (): Promise<number> => (await broker.session()).generation;

  beforeEach(() => {
    clock = new FakeClock();
    server = new ScriptedBroker().on('read', () => json(aDocument()));
  });
  afterEach(() => broker.close());

  describe('by events', () => {
    let feeds: EventFeed[];

    beforeEach(() => {
      feeds = server.streaming();
    });

    it('begins with the first session and not before', async () => {
      open();
      await clock.settle();
      expect(server.requests).toHaveLength(0);
      await broker.session();
      await clock.settle();
      expect(server.seen('events').map(({ headers }) => headers)).toMatchObject([
        { accept: 'text/event-stream', authorization: 'Bearer token', 'last-event-id': '1' },
      ]);
    });

    it('has the newer session without any further request', async () => {
      await first();
      feeds[0]!.session(aDocument({ generation: 2 }));
      await clock.settle();
      expect(await generation()).toBe(2);
      expect(server.requests).toHaveLength(2);
      expect(events).toEqual([
        { type: 'session', generation: 1, expiresAt: expect.any(String), source: 'read' },
        { type: 'following' },
        { type: 'session', generation: 2, expiresAt: expect.any(String), source: 'events' },
      ]);
    });

    it('counts what is left of a session from when the stream was last heard: the event may have lain unread', async () => {
      await first();
      await clock.advance(5_000);
      feeds[0]!.send(':\n\n');
      await clock.advance(10_000);
      feeds[0]!.session(aDocument({ generation: 2 }));
      await clock.settle();
      expect([broker.current()?.generation, broker.remainingMs()]).toEqual([2, 890_000]);
    });

    it('never goes back to an older generation, and takes no other kind of event', async () => {
      await first();
      feeds[0]!.session(aDocument({ generation: 5 }));
      feeds[0]!.session(aDocument({ generation: 4 }));
      feeds[0]!.send(`event: other\ndata: ${JSON.stringify(aDocument({ generation: 6 }))}\n\n`);
      await clock.settle();
      expect(await generation()).toBe(5);
    });

    it('opens the stream again when it ends, after a wait with jitter', async () => {
      await first();
      feeds[0]!.send(': here\n\n');
      await clock.advance(10_000);
      feeds[0]!.end();
      await clock.advance(999);
      expect(feeds).toHaveLength(1);
      await clock.advance(1);
      expect(feeds).toHaveLength(2);
      feeds[1]!.session(aDocument({ generation: 2 }));
      await clock.settle();
      expect(await generation()).toBe(2);
      expect(events.map(({ type }) => type)).toEqual(['session', 'following', 'interrupted', 'following', 'session']);
    });

    it('gives up a stream that falls silent', async () => {
      await first();
      feeds[0]!.send(': here\n\n');
      await clock.advance(39_999);
      expect(feeds[0]!.wasCancelled).toBe(false);
      await clock.advance(1);
      expect(feeds[0]!.wasCancelled).toBe(true);
      await clock.advance(1_000);
      expect(feeds).toHaveLength(2);
    });

    it('gives up a stream that drips and never ends a line', async () => {
      await first();
      for (let drop = 0; drop < 40; drop += 1) {
        feeds[0]!.send('x');
        await clock.advance(1_000);
      }
      expect(feeds[0]!.wasCancelled).toBe(true);
    });

    it('is back at once when the broker is back, and starts the waits anew', async () => {
      await first();
      server.on('events', () => Promise.reject(new TypeError('fetch failed')));
      feeds[0]!.cut();
      await clock.advance(60_000);
      feeds = server.streaming();
      await clock.advance(15_000);
      feeds[0]!.session(aDocument({ generation: 2 }));
      await clock.advance(10_000);
      expect(await generation()).toBe(2);
      feeds[0]!.end();
      await clock.advance(1_000);
      expect(feeds).toHaveLength(2);
    });

    it.each([
      ['the merchant was removed', 404, 'merchant_not_found', /^The broker does not know this merchant \(404\)/],
      ['the caller may no longer', 403, 'forbidden', /^The broker does not allow this caller/],
    ] as const)(
      'says once, and not at every try, that %s, and serves what is valid',
      async (...[, status, code, says]) => {
        await first();
        feeds[0]!.send(': here\n\n');
        await clock.settle();
        server.on('events', () => problem(status, code));
        feeds[0]!.end();
        await clock.advance(300_000);
        expect(await generation()).toBe(1);
        const refused = events.flatMap((event) => (event.type === 'interrupted' && event.error ? [event.error] : []));
        expect(refused).toMatchObject([{ code, message: expect.stringMatching(says) }]);
        expect(server.seen('events').length).toBeGreaterThan(8);

        feeds = server.streaming();
        await clock.advance(40_000);
        feeds[0]!.session(aDocument({ generation: 2 }));
        await clock.settle();
        expect(await generation()).toBe(2);
        server.on('events', () => problem(status, code));
        feeds[0]!.end();
        await clock.advance(60_000);
        expect(events.filter((event) => event.type === 'interrupted' && event.error?.code === code)).toHaveLength(2);
      },
    );

    it('leaves nothing behind when it is closed', async () => {
      await first();
      feeds[0]!.send(': here\n\n');
      await clock.settle();
      await broker.close();
      await clock.settle();
      expect(clock.pendingTasks).toBe(0);
      expect(server.seen('events').every(({ signal }) => signal.aborted)).toBe(true);
    });

    it('is not disturbed by a listener that throws, which shows as a warning', async () => {
      const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
      const onEvent = (): void => {
        throw new RangeError('with a secret in it');
      };
      await first({ onEvent });
      feeds[0]!.session(aDocument({ generation: 2 }));
      await clock.settle();
      expect(await generation()).toBe(2);
      expect(warn.mock.calls[0]?.[0]).toBe('onEvent of the session broker client threw (RangeError)');
      warn.mockRestore();
    });
  });

  it.each<[string, string | undefined, () => Response | Promise<Response>]>([
    ['the broker is away', 'network', away],
    ['there is no such route', 'route_not_found', () => problem(404, 'route_not_found')],
    ['something else answers there', 'events_unsupported', () => json({})],
    ['it ends before a line of it has come', undefined, () => stream(': he')],
    ['an event is not a session', 'session_invalid', () => stream('event: session\ndata: {}\n\n')],
    ['an event is too large', 'event_too_large', () => stream(`data: ${'x'.repeat(70_000)}`)],
  ])('is tried again, at ever longer intervals, when %s', async (_when, code, answer) => {
    server.on('events', answer);
    await first();
    await clock.advance(20_000);
    const interrupted = events.flatMap((event) => (event.type === 'interrupted' ? [event] : []));
    expect(interrupted.map(({ retryInMs }) => retryInMs)).toEqual([1_000, 2_000, 4_000, 8_000, 15_000]);
    expect(new Set(interrupted.map(({ error }) => error?.code))).toEqual(new Set([code]));
  });

  it('is tried again when the headers of the stream never come', async () => {
    await first();
    await clock.advance(11_000);
    expect(server.seen('events')).toHaveLength(2);
  });

  it('brings the session to those who wait for the first one, sooner than their own requests', async () => {
    const feeds = server.streaming();
    server.on('read', () => problem(503, 'session_unavailable', { 'retry-after': '60' }));
    await expect(open().session()).rejects.toMatchObject({ code: 'session_unavailable' });
    await clock.settle();
    server.on('read', () => new Promise(() => undefined));
    const waiting = broker.session();
    await clock.settle();
    feeds[0]!.session(aDocument());
    expect((await waiting).generation).toBe(1);
    await clock.settle();
    expect(server.seen('read').at(-1)?.signal.aborted).toBe(true);
  });
});
