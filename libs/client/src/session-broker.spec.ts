import { inspect } from 'node:util';
import { aSessionDocument as aDocument, FakeClock, json, problem, ScriptedBroker } from '../../testing/src/index.js';
import { clientOf } from '../fixtures/client-of.js';
import { BrokerUnavailable, ClientClosed, SessionRejected } from './errors.js';
import type { SessionBrokerOptions } from './options.js';
import type { SessionBroker } from './session-broker.js';
import { VERSION } from './version.js';

const MINUTE_MS = 60_000;

describe('a session', () => {
  let clock: FakeClock;
  let server: ScriptedBroker;
  let broker: SessionBroker;

  const open = (options: Partial<SessionBrokerOptions> = {}): SessionBroker => {
    broker = clientOf(server, clock, options);
    return broker;
  };

  beforeEach(() => {
    clock = new FakeClock();
    server = new ScriptedBroker();
  });
  afterEach(() => broker.close());

  it('is read once, with the credential, and then comes from memory', async () => {
    const document = aDocument();
    server.on('read', () => json(document));
    open();
    const first = await broker.session();
    expect(await broker.session()).toBe(first);
    const { expiresInMs: _, renewInMs: __, ...session } = document;
    expect(first).toEqual(session);
    expect(server.requests).toEqual([
      expect.objectContaining({
        url: 'http://broker.test/v1/merchants/shop/session',
        method: 'GET',
        headers: {
          accept: 'application/json',
          authorization: 'Bearer token',
          'user-agent': `session-broker-client/${VERSION} node/${process.versions.node}`,
        },
        redirect: 'manual',
      }),
    ]);
  });

  it('is gone with the client, which a block can close by itself', async () => {
    server.on('read', () => json(aDocument()));
    const used = open();
    await used.session();
    await used[Symbol.asyncDispose]();
    expect(used.current()).toBeUndefined();
    await expect(used.session()).rejects.toThrow(ClientClosed);
  });

  it('is read by one request for all who ask at the same time', async () => {
    let answer = (_: Response): void => undefined;
    server.on('read', () => new Promise((resolve) => (answer = resolve)));
    open();
    const reads = Array.from({ length: 100 }, () => broker.session());
    await clock.settle();
    answer(json(aDocument()));
    expect(new Set(await Promise.all(reads)).size).toBe(1);
    expect(server.requests).toHaveLength(1);
  });

  it('is still read for the rest when one of those who ask goes away', async () => {
    let answer = (_: Response): void => undefined;
    server.on('read', () => new Promise((resolve) => (answer = resolve)));
    open();
    const leaving = new AbortController();
    const left = broker.session({ signal: leaving.signal });
    const stayed = broker.session();
    await clock.settle();
    const reason = new Error('the customer went away');
    leaving.abort(reason);
    const message = 'The caller aborted the call';
    await expect(left).rejects.toMatchObject({ name: 'CallAborted', code: 'call_aborted', message, cause: reason });
    answer(json(aDocument()));
    expect((await stayed).generation).toBe(1);
  });

  it('is given up when the last who asked has gone', async () => {
    open();
    const leaving = new AbortController();
    const left = broker.session({ signal: leaving.signal });
    await clock.settle();
    leaving.abort();
    await expect(left).rejects.toThrow('aborted');
    await clock.settle();
    expect(server.requests[0]?.signal.aborted).toBe(true);
    expect(clock.pendingTasks).toBe(0);
  });

  it('is not even asked for with a signal that has aborted', async () => {
    await expect(open().session({ signal: AbortSignal.abort() })).rejects.toThrow('aborted');
    expect(server.requests).toHaveLength(0);
  });

  it('is never given out past its expiry', async () => {
    server.on('read', () => json(aDocument()));
    open();
    await broker.session();
    await clock.advance(15 * MINUTE_MS - 1);
    expect((await broker.session()).generation).toBe(1);
    server.on('read', () => problem(503, 'session_unavailable', { 'retry-after': '60' }));
    await clock.advance(1);
    await expect(broker.session()).rejects.toThrow(BrokerUnavailable);
  });

  it.each([-60, 60])(
    'ends by the time that passes, whatever the wall clocks say: that of the broker is %d minutes off',
    async (minutes) => {
      const ofBroker = new Date(clock.now() + minutes * MINUTE_MS);
      const moments = { createdAt: ofBroker.toISOString(), expiresAt: ofBroker.toISOString() };
      server.on('read', () => json({ ...aDocument(), ...moments }, 200, { date: ofBroker.toUTCString() }));
      open();
      await broker.session();
      await clock.advance(5 * MINUTE_MS);
      clock.jumpWall(-2 * minutes * MINUTE_MS);
      await clock.advance(10 * MINUTE_MS - 1);
      expect([broker.current()?.generation, broker.remainingMs()]).toEqual([1, 1]);
      await clock.advance(1);
      expect([broker.current(), broker.remainingMs()]).toEqual([undefined, 0]);
    },
  );

  it('is counted from its request, and from before if its answer lay in a cache', async () => {
    server.on('read', async () => {
      await clock.advance(2_000);
      return json(aDocument(), 200, { age: '59' });
    });
    open();
    await broker.session();
    expect(broker.remainingMs()).toBe(14 * MINUTE_MS - 2_000);
  });

  it('that is past its end on arrival is not taken', async () => {
    server.on('read', () => json(aDocument({ ageMs: 15 * MINUTE_MS })));
    const refused = expect(open().session()).rejects.toMatchObject({ code: 'session_outdated' });
    await clock.advance(20_000);
    await refused;
  });

  it('never goes back to an older generation, although a replica that lags gives one', async () => {
    server.on('read', () => json(aDocument({ generation: 5 })));
    open();
    await broker.session();
    await clock.advance(15 * MINUTE_MS);
    server.on('read', () => json(aDocument({ generation: 4 })));
    server.on('rejections', () => json(aDocument({ generation: 6 })));
    expect((await broker.session()).generation).toBe(6);
    expect(server.seen('rejections').map(({ body }) => JSON.parse(body ?? '') as unknown)).toEqual([
      { generation: 5, reason: 'session_outdated' },
    ]);
  });

  it('is waited for where a replica lags, by a caller that may report none', async () => {
    server.on('read', () => json(aDocument({ generation: 5 })));
    open();
    await broker.session();
    await clock.advance(15 * MINUTE_MS);
    const answers = [4, 6].map((generation) => json(aDocument({ generation })));
    server.on('read', () => answers.shift()!);
    server.on('rejections', () => problem(403, 'forbidden'));
    const session = broker.session();
    await clock.advance(1_000);
    expect((await session).generation).toBe(6);
  });

  it('is waited for by nobody any more once the client is closed', async () => {
    const waiting = open().session();
    const failure = expect(waiting).rejects.toThrow(
      'The session broker client is closed (http://broker.test, merchant "shop")',
    );
    await clock.settle();
    await broker.close();
    await failure;
    await expect(broker.session()).rejects.toThrow(ClientClosed);
    await expect(broker.decrypt('a.b.c.d.e')).rejects.toMatchObject({ cause: expect.any(ClientClosed) });
    await expect(broker.withSession(() => 1)).rejects.toThrow(ClientClosed);
    expect(clock.pendingTasks).toBe(0);
  });

  describe('of a broker that began again with lower generations', () => {
    beforeEach(async () => {
      server.on('read', () => json(aDocument({ generation: 5 })));
      server.on('rejections', () => json(aDocument({ generation: 2 })));
      open();
      await broker.session();
      server.on('read', () => json(aDocument({ generation: 2 })));
    });

    it('is taken once the broker has answered a report with it', async () => {
      const paidWith = await broker.withSession(({ generation }) => {
        if (generation === 5) throw new SessionRejected('b_used_token');
        return generation;
      });
      expect([paidWith, broker.current()?.generation]).toEqual([2, 2]);
      expect((await broker.session()).generation).toBe(2);
      expect(server.requests).toHaveLength(2);
    });

    it('is asked for by a report when the one before has ended', async () => {
      await clock.advance(15 * MINUTE_MS);
      expect((await broker.session()).generation).toBe(2);
    });
  });
});

describe('secrets', () => {
  it('are not printed with the client or a session, and neither is the token', async () => {
    const server = new ScriptedBroker().on('read', () => json(aDocument()));
    const broker = clientOf(server, new FakeClock(), { auth: 'canary' });
    const session = await broker.session();
    for (const shown of [broker, session, { deep: { session } }, [broker]]) {
      const text = inspect(shown, { depth: 10, showHidden: true });
      expect(text).not.toMatch(/canary|auth-token|device-id|refresh-token/);
    }
    expect(inspect(broker)).toContain('shop');
    expect(inspect(session)).toContain('generation: 1');
    await broker.close();
  });
});
