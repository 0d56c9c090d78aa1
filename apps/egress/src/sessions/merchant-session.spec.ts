import { jest } from '@jest/globals';
import type { Session } from '#libs/client';
import type { Logger } from '#libs/telemetry';
import { aSessionDocument, away, type EventFeed, FakeClock, json, problem, ScriptedBroker } from '#libs/testing';
import { MerchantSession } from './merchant-session.js';

const LIFETIME_MS = 900_000;
const FIRST_LOOK_MS = 2_000;
const NONE = 'there is no session: payments of this merchant are refused';
const THERE_IS_ONE = 'there is a session: payments of this merchant are sent';
const HEARD_AGAIN = 'the broker is heard again: newer sessions come by themselves';
const unavailable = (cause: string, headers = {}): Response => {
  const code = 'session_unavailable';
  return json({ type: `urn:session-broker:problem:${code}`, title: 'A title', status: 503, code, cause }, 503, headers);
};
const nobodyLeaves = new AbortController().signal;
const generationOf = ({ generation }: Session): Promise<number> => Promise.resolve(generation);

describe('the session of a merchant', () => {
  let clock: FakeClock;
  let broker: ScriptedBroker;
  let feeds: EventFeed[];
  let logged: { readonly says: string; readonly detail?: string; readonly runbook?: string; readonly code?: string }[];
  let held: number[];
  let session: MerchantSession;

  beforeEach(() => {
    clock = new FakeClock();
    broker = new ScriptedBroker();
    feeds = broker.streaming();
    logged = [];
    held = [];
    const write = (fields: object, says: string): void => void logged.push({ ...fields, says });
    const logger = { info: write, warn: write, error: write } as Partial<Logger> as Logger;
    const access = { url: 'http://broker.test/', auth: () => 'token', fetch: broker.fetch };
    const onHeld = (requests: number): void => void held.push(requests);
    session = new MerchantSession({ merchant: 'shop', access, clock, logger, onHeld });
  });
  afterEach(() => session.close());

  const lines = (): string[] => logged.map(({ says }) => says);
  const answer = (generation = 1): Response => json(aSessionDocument({ generation, createdAtMs: clock.now() }));
  /** What becomes of a request, as far as that is known without time passing. */
  const ask = (gone = nobodyLeaves): { result: string } => {
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
  const tell = async (generation: number, ageMs = 0): Promise<void> => {
    feeds.at(-1)?.session(aSessionDocument({ generation, ageMs, createdAtMs: clock.now() - ageMs }));
    await clock.settle();
  };
  /** The first session, by an answer and by an event. */
  const begin = async (): Promise<void> => {
    broker.on('read', () => answer());
    session.start();
    await session.settled();
    await clock.settle();
    await tell(1);
  };
  const brokerGoesAway = async (): Promise<void> => {
    for (const route of ['read', 'events', 'rejections'] as const) broker.on(route, away);
    for (const feed of feeds) feed.cut();
    await clock.settle();
  };
  const brokerIsBack = async (lineCount: number): Promise<void> => {
    broker.on('read', () => answer(2));
    feeds = broker.streaming();
    for (let looks = 0; looks < 12 && logged.length < lineCount; looks += 1) {
      await clock.advance(10_000);
      await tell(2);
    }
  };

  it('is waited for by a request that is earlier than it', async () => {
    broker.on('read', () => new Promise((resolve) => clock.schedule(1_500, () => resolve(answer()))));
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
    expect([asked.result, await outcome()]).toEqual(['session_unavailable', 'session_unavailable']);
    await expect(session.use(generationOf, nobodyLeaves)).rejects.toMatchObject({ retryAfterMs: 1_000 });
    expect(lines()).toEqual([NONE]);
  });

  it('is missing in the log with what the broker says of it, and told when it is there, once', async () => {
    const cause = 'the bank refuses: b_merchant_not_found';
    broker.on('read', () => unavailable(cause, { 'retry-after': '287' }));
    session.start();
    await clock.settle();
    expect(logged).toEqual([expect.objectContaining({ says: NONE, detail: expect.stringContaining(`: ${cause} (`) })]);
    await expect(session.use(generationOf, nobodyLeaves)).rejects.toMatchObject({ publicCause: cause });
    broker.on('read', () => answer());
    for (let tries = 0; tries < 2; tries += 1) {
      await outcome();
      await clock.advance(FIRST_LOOK_MS);
    }
    expect(await outcome()).toBe('generation 1');
    expect(lines().slice(1)).toEqual([THERE_IS_ONE]);
  });

  it('is missing in the log with the last reason for which the broker could not be asked', async () => {
    broker.on('read', away);
    session.start();
    ask();
    await clock.advance(FIRST_LOOK_MS);
    const detail = 'The broker cannot be reached: ECONNREFUSED (http://broker.test, merchant "shop")';
    expect(logged).toEqual([expect.objectContaining({ says: NONE, detail })]);
    expect(session.facts.reason).toBe('network');
    broker.on('read', () => problem(401, 'unauthenticated'));
    await clock.advance(15_000);
    expect(await outcome()).toBe('session_unavailable');
    await clock.advance(15_000);
    expect(logged.slice(1)).toMatchObject([{ detail: expect.stringContaining('(401)') }]);
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
      broker.on('read', () => problem(status, code));
      broker.on('events', () => problem(status, code));
      feeds.at(-1)?.end();
      await clock.advance(300_000);
      expect(lines()).toEqual([expect.stringMatching(said)]);
      expect(await outcome()).toBe('generation 1');
      expect(session.facts).toMatchObject({ isFollowing: false, reason: code });
      await brokerIsBack(2);
      expect(lines().slice(1)).toEqual([HEARD_AGAIN]);
      expect(session.facts.reason).toBeUndefined();
    },
  );

  it('is missing in the log once when it ends while the broker is away, and is there again once', async () => {
    await begin();
    await brokerGoesAway();
    await clock.advance(LIFETIME_MS - 1);
    expect(lines()).toEqual(['the broker is away: newer sessions do not come by themselves']);
    await clock.advance(1);
    for (let asked = 0; asked < 6; asked += 1) {
      expect(await outcome()).toBe('session_unavailable');
      await clock.advance(10_000);
    }
    const detail = expect.stringMatching(/^The broker cannot be reached/) as string;
    const runbook = 'egress-without-session';
    expect(logged.slice(1)).toEqual([{ says: NONE, merchant: 'shop', code: session.facts.reason, detail, runbook }]);
    await brokerIsBack(4);
    expect(lines().slice(2).sort()).toEqual([HEARD_AGAIN, THERE_IS_ONE]);
  });

  it('is missing in the log when it ends and the broker, which is heard, has none either', async () => {
    await begin();
    broker.on('read', () => unavailable('the bank is away'));
    // A stream that is silent for longer than this is considered dead.
    for (let ageMs = 10_000; ageMs <= LIFETIME_MS + 60_000; ageMs += 10_000) {
      await clock.advance(10_000);
      await tell(1, ageMs);
    }
    const detail = expect.stringContaining('the bank is away') as string;
    expect(logged).toEqual([expect.objectContaining({ says: NONE, detail })]);
    await tell(2);
    expect(lines().slice(1)).toEqual([THERE_IS_ONE]);
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
    feeds.at(-1)?.handover({ generation: 2, holdForMs: 1_000, participant: 'p-1' });
    await clock.settle();
    const asked = ask();
    await clock.settle();
    expect(asked.result).toBe('waits');
    await tell(2);
    expect([asked.result, held]).toEqual(['generation 2', [1]]);
  });

  it('that was reported is waited for while the broker makes the next one', async () => {
    await begin();
    broker.on('rejections', () => new Promise((resolve) => clock.schedule(3_000, () => resolve(answer(2)))));
    session.report(1, 'http_401');
    const asked = ask();
    await clock.advance(2_999);
    expect(asked.result).toBe('waits');
    await clock.advance(1);
    await clock.settle();
    expect(asked.result).toBe('generation 2');
    expect(broker.seen('rejections').map(({ body }) => body)).toEqual(['{"generation":1,"reason":"http_401"}']);
  });

  it('that was reported goes on after two seconds at most when the broker is away', async () => {
    await begin();
    await brokerGoesAway();
    session.report(1, 'http_401');
    const asked = ask();
    await clock.advance(FIRST_LOOK_MS);
    await clock.settle();
    expect([asked.result, await outcome()]).toEqual(['generation 1', 'generation 1']);
  });

  it('is not used for a client that has gone', async () => {
    const gone = new AbortController();
    const asked = ask(gone.signal);
    gone.abort(Object.assign(new Error('gone'), { code: 'request_timeout' }));
    await clock.settle();
    expect(asked.result).toBe('request_timeout');
  });

  it('opens no answer when the broker cannot', async () => {
    broker.on('decrypt', () => problem(422, 'jwe_not_opened'));
    const detail = expect.stringContaining('(jwe_not_opened)') as string;
    await expect(session.open('a.b.c.d.e')).rejects.toMatchObject({ code: 'answer_unopened', detail });
  });

  it('has made ready what seals the next payment: no key is made for that then', async () => {
    await session.prepareSeal();
    await begin();
    await session.prepareSeal();
    const made = jest.spyOn(crypto.subtle, 'generateKey');
    const seal = (current: Session): Promise<string> => session.seal(current, new Uint8Array(4));
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
