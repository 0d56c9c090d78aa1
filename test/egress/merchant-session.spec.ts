import { jest } from '@jest/globals';
import type { Session } from '#libs/client';
import type { Logger } from '#libs/telemetry';
import { FakeClock } from '#libs/testing';
import { MerchantSession } from '../../apps/egress/src/sessions/merchant-session.js';
import { aDocument, EventFeed, json, problem, ScriptedBroker } from './scripted-broker.js';

const LIFETIME_MS = 900_000;
const FIRST_LOOK_MS = 2_000;
const nobodyLeaves = new AbortController().signal;
const generationOf = ({ generation }: Session): Promise<number> => Promise.resolve(generation);

describe('the session of a merchant', () => {
  let clock: FakeClock;
  let broker: ScriptedBroker;
  let lines: string[];
  let details: (string | undefined)[];
  let fields: object[];
  let held: number[];
  let session: MerchantSession;

  beforeEach(() => {
    clock = new FakeClock();
    broker = new ScriptedBroker();
    lines = [];
    details = [];
    fields = [];
    held = [];
    const write = (written: { detail?: string }, message: string): void => {
      lines.push(message);
      details.push(written.detail);
      fields.push(written);
    };
    const logger = { info: write, warn: write, error: write } as Partial<Logger> as Logger;
    const access = { url: 'http://broker.test/', auth: () => 'token', fetch: broker.fetch };
    const onHeld = (requests: number): void => void held.push(requests);
    session = new MerchantSession({ merchant: 'shop', access, clock, logger, onHeld });
  });
  afterEach(() => session.close());

  /** What becomes of a request, as far as that is known without time passing. */
  const ask = (gone: AbortSignal = nobodyLeaves): { result: string } => {
    const asked = { result: 'waits' };
    session.use(generationOf, gone).then(
      (generation) => (asked.result = `generation ${generation}`),
      (error: { readonly code?: string }) => (asked.result = error.code ?? 'another error'),
    );
    return asked;
  };
  const outcome = async (): Promise<string> => {
    const asked = ask();
    await clock.settle();
    return asked.result;
  };
  const begin = async (): Promise<void> => {
    broker.on('session', () => json(aDocument(1, clock.now())));
    session.start();
    await session.settled();
    await clock.settle();
  };
  const heard = async (): Promise<void> => {
    broker.feeds.at(-1)?.send('session', aDocument(1, clock.now()));
    await clock.settle();
  };
  /** A stream that is silent for longer than these pauses is considered dead. */
  const hearsFor = async (ms: number): Promise<void> => {
    const createdAtMs = clock.now();
    for (let passed = 0; passed < ms; passed += 10_000) {
      await clock.advance(10_000);
      broker.feeds.at(-1)?.send('session', aDocument(1, createdAtMs, clock.now() - createdAtMs));
      await clock.settle();
    }
  };
  const brokerGoesAway = async (): Promise<void> => {
    broker.goesAway();
    await clock.settle();
  };

  const brokerIsBack = (): void => {
    broker.on('session', () => json(aDocument(2, clock.now())));
    broker.on('events', () => {
      const feed = new EventFeed();
      feed.send('session', aDocument(2, clock.now()));
      return feed.response;
    });
  };

  it('is waited for by a request that is earlier than it', async () => {
    broker.on(
      'session',
      () => new Promise((resolve) => clock.schedule(1_500, () => resolve(json(aDocument(1, clock.now()))))),
    );
    session.start();
    const asked = ask();
    await clock.advance(1_499);
    expect(asked.result).toBe('waits');
    await clock.advance(1);
    await clock.settle();
    expect(asked.result).toBe('generation 1');
  });

  it('is waited for two seconds at most, and then for no request any more', async () => {
    session.start();
    const asked = ask();
    await clock.advance(FIRST_LOOK_MS - 1);
    expect(asked.result).toBe('waits');
    await clock.advance(1);
    expect(asked.result).toBe('session_unavailable');
    expect(await outcome()).toBe('session_unavailable');
    await expect(session.use(generationOf, nobodyLeaves)).rejects.toMatchObject({ retryAfterMs: 1_000 });
    expect(lines).toEqual(['there is no session: payments of this merchant are refused']);
  });

  it('that the broker refused at first is told in the log when it is there, once', async () => {
    broker.on('session', () => problem(403, 'forbidden'));
    session.start();
    await clock.settle();
    expect(lines).toEqual(['there is no session: payments of this merchant are refused']);
    broker.on('session', () => json(aDocument(1, clock.now())));
    for (let tries = 0; tries < 2; tries += 1) {
      await outcome();
      await clock.advance(FIRST_LOOK_MS);
    }
    expect(await outcome()).toBe('generation 1');
    expect(lines.slice(1)).toEqual(['there is a session: payments of this merchant are sent']);
  });

  it('is missing in the log with what the broker says of it', async () => {
    const cause = 'the bank refuses: b_merchant_not_found';
    broker.on('session', () => {
      const refusal = problem(503, 'session_unavailable', { cause });
      refusal.headers.set('retry-after', '287');
      return refusal;
    });
    session.start();
    const asked = ask();
    await clock.advance(FIRST_LOOK_MS);
    expect(asked.result).toBe('session_unavailable');
    expect(lines).toEqual(['there is no session: payments of this merchant are refused']);
    expect(details).toEqual([expect.stringContaining(`: ${cause} (`)]);
    await expect(session.use(generationOf, nobodyLeaves)).rejects.toMatchObject({ publicCause: cause });
  });

  it('is missing in the log with the last reason for which the broker could not be asked', async () => {
    const refused = new TypeError('fetch failed', {
      cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
    });
    broker.on('session', () => Promise.reject(refused));
    session.start();
    ask();
    await clock.advance(FIRST_LOOK_MS);
    expect(lines).toEqual(['there is no session: payments of this merchant are refused']);
    expect(details).toEqual(['The broker cannot be reached: ECONNREFUSED (http://broker.test, merchant "shop")']);
    expect(session.facts.reason).toBe('network');
    broker.on('session', () =>
      problem(401, 'unauthenticated', { title: 'The credential is missing, unknown or not valid' }),
    );
    await clock.advance(15_000);
    expect(await outcome()).toBe('session_unavailable');
    await clock.advance(15_000);
    expect(details.slice(1)).toEqual([
      expect.stringContaining('(401): The credential is missing, unknown or not valid'),
    ]);
    expect(session.facts.reason).toBe('unauthenticated');
  });

  it.each([
    [404, 'merchant_not_found', /^the broker does not know this merchant any more: payments go on /],
    [401, 'unauthenticated', /^the broker does not accept the credential of this egress any more: payments go on /],
    [403, 'forbidden', /^the broker does not let this egress have the sessions of this merchant any more: /],
  ])(
    'is the last one, which the log says once, where the broker refuses another: %i %s',
    async (status, code, said) => {
      await begin();
      await heard();
      broker.on('session', () => problem(status, code));
      broker.on('events', () => problem(status, code));
      broker.feeds.at(-1)?.end();
      await clock.advance(300_000);
      expect(lines).toEqual([expect.stringMatching(said)]);
      expect(details).toEqual([expect.stringContaining(`"shop")`)]);
      expect(await outcome()).toBe('generation 1');
      expect(session.facts).toMatchObject({ isFollowing: false, reason: code });
      brokerIsBack();
      for (let looks = 0; looks < 12 && lines.length < 2; looks += 1) await clock.advance(10_000);
      expect(lines.slice(1)).toEqual(['the broker is heard again: newer sessions come by themselves']);
      expect(session.facts.reason).toBeUndefined();
    },
  );

  it('is missing in the log once when it ends while the broker is away, and is there again once', async () => {
    await begin();
    await heard();
    await brokerGoesAway();
    await clock.advance(LIFETIME_MS - 1);
    expect(lines).toEqual(['the broker is away: newer sessions do not come by themselves']);
    await clock.advance(1);
    expect(lines.slice(1)).toEqual(['there is no session: payments of this merchant are refused']);
    for (let asked = 0; asked < 6; asked += 1) {
      expect(await outcome()).toBe('session_unavailable');
      await clock.advance(10_000);
    }
    expect(lines).toHaveLength(2);
    const runbook = 'egress-without-session';
    expect(fields[1]).toEqual({ merchant: 'shop', code: session.facts.reason, detail: details[0], runbook });
    expect(details[1]).toMatch(/^The broker cannot be reached/);
    brokerIsBack();
    for (let looks = 0; looks < 12 && lines.length < 4; looks += 1) await clock.advance(10_000);
    expect(lines.slice(2).sort()).toEqual([
      'the broker is heard again: newer sessions come by themselves',
      'there is a session: payments of this merchant are sent',
    ]);
  });

  it('is missing in the log when it ends and the broker, which is heard, has none either', async () => {
    await begin();
    await heard();
    broker.on('session', () => problem(503, 'session_unavailable', { cause: 'the bank is away' }));
    await hearsFor(LIFETIME_MS + 60_000);
    expect(lines).toEqual(['there is no session: payments of this merchant are refused']);
    expect(details).toEqual([expect.stringContaining('the bank is away')]);
    broker.feeds.at(-1)?.send('session', aDocument(2, clock.now()));
    await clock.settle();
    expect(lines.slice(1)).toEqual(['there is a session: payments of this merchant are sent']);
  });

  it.each([-LIFETIME_MS, LIFETIME_MS])(
    'goes on to its end while the broker is away, however the wall clock is set: %d ms',
    async (byMs) => {
      clock.jumpWall(byMs);
      await begin();
      await brokerGoesAway();
      expect(session.facts.isFollowing).toBe(false);
      clock.jumpWall(-2 * byMs);
      await clock.advance(LIFETIME_MS - 1);
      expect([await outcome(), session.facts.isLiving]).toEqual(['generation 1', true]);
      await clock.advance(1);
      expect(await outcome()).toBe('session_unavailable');
      expect(session.facts).toMatchObject({ isLiving: false, reason: 'network' });
    },
  );

  it('is held back during a hand-over, which is counted', async () => {
    await begin();
    broker.on('handovers', () => new Response(null, { status: 204 }));
    broker.feeds.at(-1)?.send('handover', { generation: 2, holdForMs: 1_000, participant: 'p-1' });
    await clock.settle();
    const asked = ask();
    await clock.settle();
    expect(asked.result).toBe('waits');
    broker.feeds.at(-1)?.send('session', aDocument(2, clock.now()));
    await clock.settle();
    expect(asked.result).toBe('generation 2');
    expect(held).toEqual([1]);
  });

  describe('that was reported', () => {
    it('is a newer one for the next request', async () => {
      await begin();
      broker.on('rejections', () => json(aDocument(2, clock.now())));
      session.report(1, 'http_401');
      expect(await outcome()).toBe('generation 2');
      expect(broker.bodiesOf('rejections')).toEqual([{ generation: 1, reason: 'http_401' }]);
    });

    it('goes on after two seconds at most when the broker is away', async () => {
      await begin();
      await brokerGoesAway();
      session.report(1, 'http_401');
      const asked = ask();
      await clock.advance(FIRST_LOOK_MS);
      await clock.settle();
      expect(asked.result).toBe('generation 1');
      expect(await outcome()).toBe('generation 1');
    });

    it('is waited for while the broker makes the next one', async () => {
      await begin();
      const next = (): Response => json(aDocument(2, clock.now()));
      broker.on('rejections', () => new Promise((resolve) => clock.schedule(3_000, () => resolve(next()))));
      session.report(1, 'http_401');
      const asked = ask();
      await clock.advance(2_999);
      expect(asked.result).toBe('waits');
      await clock.advance(1);
      await clock.settle();
      expect(asked.result).toBe('generation 2');
    });
  });

  it('is not used for a client that has gone', async () => {
    const gone = new AbortController();
    const asked = ask(gone.signal);
    gone.abort(Object.assign(new Error('gone'), { code: 'request_timeout' }));
    await clock.settle();
    expect(asked.result).toBe('request_timeout');
  });

  it.each([
    ['the broker cannot open it', () => problem(422, 'jwe_not_opened')],
    ['the egress may not have it opened', () => problem(403, 'forbidden')],
  ])('opens no answer when %s', async (_why, answer) => {
    broker.on('decrypt', answer);
    await expect(session.open('a.b.c.d.e')).rejects.toMatchObject({ code: 'answer_unopened' });
  });

  it('has made ready what seals the next payment: no key is made for that then', async () => {
    await session.prepareSeal();
    await begin();
    await session.prepareSeal();
    const made = jest.spyOn(crypto.subtle, 'generateKey');
    const seal = (held: Session): Promise<string> => session.seal(held, new Uint8Array(4));
    await session.use(seal, nobodyLeaves);
    expect(made).not.toHaveBeenCalled();
    await session.use(seal, nobodyLeaves);
    expect(made).toHaveBeenCalledTimes(1);
    made.mockRestore();
  });

  it('leaves nothing behind when it is closed', async () => {
    await begin();
    await session.close();
    await clock.settle();
    expect(clock.pendingTasks).toBe(0);
  });
});
