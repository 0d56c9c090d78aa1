import type { RequestListener } from 'node:http';
import { plusMs, type ScheduledTask, toRfc3339 } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { eventually, FakeClock, LoopbackServer } from '#libs/testing';
import type { BrokerPlace } from './broker-place.js';
import { FollowedReplica } from './followed-replica.js';
import { AcceptedToken } from './accepted-token.js';
import { FollowState } from './follow-state.js';
import type { ListedMerchant } from './listed-merchant.js';
import type { Notice } from './notice.js';
import { StatusLook } from './status-look.js';

const LOOK_MS = 5_000;
const WELL: ListedMerchant = { id: 'shop', state: 'fresh', condition: 'fresh', reason: 'current', renewing: false };

const FAILING: ListedMerchant = { ...WELL, condition: 'failing', cause: 'the bank refuses', runbook: 'access-refused' };

/** Counts how many looks have ended: each ends by scheduling the next one. */
class LookClock extends FakeClock {
  looksAskedFor = 0;

  override schedule(delayMs: number, task: () => void): ScheduledTask {
    if (delayMs === LOOK_MS) this.looksAskedFor += 1;
    return super.schedule(delayMs, task);
  }
}

describe('what is told of a merchant that is followed', () => {
  const clock = new LookClock();
  const stop = new AbortController();
  let listed = WELL;
  let ofOther: ListedMerchant = FAILING;
  let ofStore: object = {};
  let refusal: object | undefined;
  let refusalStatus = 401;
  let hasToken = false;
  let token: BrokerPlace['token'];
  let told: string[] = [];
  let facts: object[] = [];
  let server: LoopbackServer;
  let other: LoopbackServer;
  let replica: FollowedReplica;
  let state: FollowState;
  let statusLook: StatusLook;

  beforeAll(async () => {
    server = await LoopbackServer.http((_request, response) => {
      if (refusal !== undefined) return void response.writeHead(refusalStatus).end(JSON.stringify(refusal));
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ ...ofStore, merchants: [listed] }));
    });
  });

  const answerOfOther: RequestListener = (_request, response) => {
    if (refusal !== undefined) return void response.writeHead(refusalStatus).end(JSON.stringify(refusal));
    response.end(JSON.stringify({ merchants: [ofOther] }));
  };

  beforeAll(async () => {
    other = await LoopbackServer.http(answerOfOther);
  });

  beforeEach(() => {
    const urls = [server, other].map(({ port }) => new URL(`http://127.0.0.1:${port}`)) as [URL, URL];
    replica = new FollowedReplica(urls);
    state = new FollowState(clock);
    state.note({ type: 'following', mode: 'events' });
    hasToken = false;
    [listed, ofOther] = [WELL, FAILING];
    refusalStatus = 401;
    token = () => Promise.resolve(undefined);
    [told, facts, ofStore, refusal] = [[], [], {}, undefined];
    statusLook = new StatusLook({
      broker: {
        urls,
        token: () => token(),
        get hasToken() {
          return hasToken;
        },
        ca: undefined,
      },
      merchant: 'shop',
      replica,
      state,
      accepted: new AcceptedToken(),
      clock,
      signal: stop.signal,
      tell: (notice: Notice) => {
        told.push(notice.event === 'store' ? `${notice.about}: ${notice.words}` : notice.words);
        facts.push({ event: notice.event, ...notice.facts });
      },
    });
  });

  afterEach(() => statusLook.close());

  afterAll(async () => {
    stop.abort();
    await Promise.all([server.close(), other.close()]);
  });

  async function look(next: Partial<ListedMerchant>): Promise<void> {
    listed = { ...WELL, ...next };
    const before = clock.looksAskedFor;
    state.heard();
    await clock.advance(LOOK_MS);
    await eventually(() => clock.looksAskedFor > before);
  }

  const BY_STREAM = "the merchant's sessions come by the stream that is open, and nothing else is seen of it";

  const ended = (cause: string, runbook = 'renewals-failing'): Partial<ListedMerchant> => ({
    ...{ condition: 'unavailable', state: 'unavailable', reason: 'expired', generation: 7, cause, runbook },
    lastFailure: { kind: 'transient', at: '' },
  });
  const follow = (): void => {
    const expiresAt = toRfc3339(plusMs(clock.now(), 2 * LOOK_MS + 1));
    statusLook.follow({ merchant: 'shop', generation: 7, expiresAt });
  };

  it('is nothing while it is well, while it is being renewed, and while its first session is created', async () => {
    await look({});
    await look({ condition: 'renewing', renewing: true });
    await look({ condition: 'unavailable', state: 'unavailable', reason: 'no_session', renewing: true, cause: 'x' });
    expect(told).toEqual([]);
  });

  it('is why it has no session from the start, each other cause, and that it has one again', async () => {
    await look(ended('the bank refuses', 'access-refused'));
    await look({ ...ended('the bank refuses', 'access-refused'), renewing: true });
    await look({ ...ended('nothing listens there'), reason: 'no_session' });
    await look({});
    expect(told).toEqual([
      'expired: the bank refuses (runbook: access-refused)',
      'no session: nothing listens there (runbook: renewals-failing)',
      'fresh',
    ]);
    expect(facts[0]).toEqual({
      ...{ event: 'condition', merchant: 'shop', condition: 'unavailable' },
      ...{ cause: 'the bank refuses', runbook: 'access-refused', place: replica.url.origin },
    });
  });

  it('is that the token is not accepted any more, each minute, and that it is again', async () => {
    await look({});
    refusal = { code: 'unauthenticated' };
    await look({});
    await eventually(() => told.length === 1);
    const remedy = 'set BROKER_TOKEN_FILE or --token-file: no token is given';
    const message = `The broker does not accept the credential (401): ${BY_STREAM}`;
    expect(told).toEqual([`${message}\nWhat to do: ${remedy}`]);
    const error = { code: 'unauthenticated', message, status: 401, remedy };
    expect(facts).toEqual([{ event: 'credential', merchant: 'shop', accepted: false, streamOpen: true, error }]);
    for (let looks = 1; looks < 12; looks += 1) await look({});
    expect(told).toHaveLength(1);
    await look({});
    await eventually(() => told.length === 2);
    expect(told[1]).toMatch(/\(401\), since \S+Z: the merchant's sessions come/);
    refusal = undefined;
    await look({});
    await look({});
    expect(told.slice(2)).toEqual(['The broker accepts the credential again.']);
    expect(facts[2]).toEqual({ event: 'credential', merchant: 'shop', accepted: true });
  });

  it('is, of a token that is not accepted, that its file is read anew', async () => {
    [hasToken, refusal] = [true, { code: 'unauthenticated' }];
    await look({});
    expect(told[0]).toMatch(
      /\nWhat to do: put the token of a caller of this broker into its file: it is read anew for each question$/,
    );
  });

  it('is that the token cannot be read any more, and that it is accepted again', async () => {
    const detail = 'the token file /run/token cannot be read (ENOENT)';
    token = () => Promise.reject(new BrokerError('invalid_request', { publicDetail: detail }));
    await look({});
    await look({});
    const message = `${detail}: ${BY_STREAM}`;
    const remedy = 'fix it: it is read anew for each question';
    const error = { code: 'invalid_request', message, remedy };
    expect(told).toEqual([`${message}\nWhat to do: ${remedy}`]);
    expect(facts).toEqual([{ event: 'credential', merchant: 'shop', accepted: false, streamOpen: true, error }]);
    token = () => Promise.resolve('a-token');
    await look({});
    expect(told.slice(1)).toEqual(['The broker accepts the credential again.']);
  });

  it('is another reason why there is no token that is accepted, at once and with its own beginning', async () => {
    refusal = { code: 'unauthenticated' };
    await look({});
    await eventually(() => told.length === 1);
    const detail = 'the token file /run/token cannot be read (ENOENT)';
    token = () => Promise.reject(new BrokerError('invalid_request', { publicDetail: detail }));
    await look({});
    await eventually(() => told.length === 2);
    expect(told[1]).toMatch(new RegExp(`^the token file /run/token cannot be read \\(ENOENT\\): ${BY_STREAM}\n`));
  });

  it('is that nothing is seen any more, once the stream has ended, too', async () => {
    refusal = { code: 'unauthenticated' };
    await look({});
    await eventually(() => told.length === 1);
    state.note({ type: 'interrupted', mode: 'events', retryInMs: 60_000, error: undefined });
    await look({});
    await eventually(() => told.length === 2);
    expect(told[1]).toMatch(
      /^The broker does not accept the credential \(401\), since \S+Z: nothing is seen of the merchant\n/,
    );
  });

  it('is that another replica serves the merchant where the one that is followed shows it no more, or lets nobody in', async () => {
    const [followed, serving] = [server, other].map(({ port }) => `http://127.0.0.1:${port}`);
    ofOther = { ...WELL, generation: 7 };
    const turn = state.begin();
    state.note({ type: 'following', mode: 'events' });
    await look({ id: 'till' });
    const error = { message: 'shop is not there, or not for this caller; it may see till' };
    expect(facts).toMatchObject([
      { event: 'broker', answers: true, servedBy: serving, replicas: [{ place: followed, error }] },
    ]);
    expect([turn.aborted, replica.url.origin]).toEqual([true, serving]);
  });

  it('is that the caller may not see the merchant any more while its stream stands, and that it may again', async () => {
    ofOther = { ...FAILING, id: 'till' };
    await look({ id: 'till' });
    await look({ id: 'till' });
    await look({});
    const message = `This caller may not see the merchant any more; it may see till: ${BY_STREAM}`;
    const remedy =
      'name a merchant that session-broker status lists, or have session:read granted to this caller for the one that is named';
    expect(told).toEqual([`${message}\nWhat to do: ${remedy}`, 'This caller may see the merchant again.']);
    expect(facts).toEqual([
      {
        event: 'credential',
        merchant: 'shop',
        accepted: false,
        streamOpen: true,
        error: { code: 'forbidden', message, remedy },
      },
      { event: 'credential', merchant: 'shop', accepted: true },
    ]);
  });

  const interrupt = (): void =>
    state.note({ type: 'interrupted', mode: 'events', retryInMs: 60_000, error: undefined });

  it('is no all-clear of rights before a replica has shown the merchant, whatever becomes of the stream', async () => {
    ofOther = { ...FAILING, id: 'till' };
    await look({ id: 'till' });
    interrupt();
    for (let looks = 0; looks < 2; looks += 1) await look({ id: 'till' });
    const NOT_SEEN = 'This caller may not see the merchant any more; it may see till';
    expect(told.map((words) => words.split('\n')[0])).toEqual([
      `${NOT_SEEN}: ${BY_STREAM}`,
      expect.stringMatching(new RegExp(`^${NOT_SEEN}, since \\S+Z: nothing is seen of the merchant$`)),
    ]);
    await look({});
    expect(told.slice(2)).toEqual(['This caller may see the merchant again.']);
  });

  it('is no answer again where a replica that is back does not accept the token, either', async () => {
    refusal = { code: 'unauthenticated' };
    interrupt();
    await look({});
    const { port } = other;
    await other.close();
    await look({});
    other = await LoopbackServer.http(answerOfOther, port);
    await look({});
    const error = { code: 'broker_unreachable' };
    const replicas = [{ place: `http://127.0.0.1:${port}`, error: expect.objectContaining(error) as object }];
    const down = { event: 'broker', answers: false, streamOpen: false, error, replicas };
    expect(facts).toMatchObject([{ event: 'credential', accepted: false }, down]);
    expect(told.filter((words) => words.includes('(401)'))).toHaveLength(1);
    refusal = undefined;
    await look({});
    expect(facts.slice(2)).toMatchObject([
      { event: 'credential', accepted: true },
      { event: 'broker', answers: true },
    ]);
  });

  it('is the end of its session once, and each other cause that it then has none', async () => {
    follow();
    await look({ generation: 7 });
    listed = { ...WELL, ...ended('nothing listens there') };
    await clock.advance(LOOK_MS + 1);
    await eventually(() => told.length > 0);
    await look(ended('nothing listens there'));
    await look(ended('the answer is sealed to another key', 'gateway-key-changed'));
    await look(ended('the bank refuses', 'access-refused'));
    expect(facts).toMatchObject([
      { event: 'expired', generation: 7, cause: 'nothing listens there', runbook: 'renewals-failing' },
      { event: 'condition', condition: 'unavailable', runbook: 'gateway-key-changed' },
      { event: 'condition', condition: 'unavailable', cause: 'the bank refuses' },
    ]);
  });

  it('is the end of its session once where the clock of the broker says so first, and no more when the next session comes', async () => {
    follow();
    await look(ended('nothing listens there'));
    await look(ended('nothing listens there'));
    await look({ generation: 8 });
    expect(facts).toMatchObject([
      { event: 'expired', generation: 7, merchantSeen: true, cause: 'nothing listens there' },
    ]);
    expect(told).toEqual(['expired: nothing listens there (runbook: renewals-failing)']);
  });

  it('is the end of its session where there is no token to ask with, too, and each line once', async () => {
    const detail = 'the token file /run/token cannot be read (ENOENT)';
    token = () => Promise.reject(new BrokerError('invalid_request', { publicDetail: detail }));
    follow();
    await look({});
    await look({});
    await clock.advance(LOOK_MS);
    await eventually(() => told.length === 2);
    expect(told[0]).toContain(detail);
    expect(told[1]).toBe(`expired; whether a newer session has come is not seen: ${detail}`);
    expect(facts[1]).toMatchObject({ merchantSeen: false, error: { code: 'invalid_request', message: detail } });
  });

  it('has no cause of the end where the token keeps a newer session from being seen, but that', async () => {
    [hasToken, refusal] = [true, { code: 'unauthenticated', title: 'The credential is not valid' }];
    const session = { merchant: 'shop', generation: 7, expiresAt: toRfc3339(clock.now()) };
    statusLook.follow(session);
    await clock.advance(1);
    await eventually(() => told.length === 1);
    const message = 'HTTP 401: The credential is not valid';
    const remedy = 'put the token of a caller of this broker into its file: it is read anew for each question';
    const error = { code: 'unauthenticated', message, status: 401, remedy };
    expect(facts).toEqual([{ event: 'expired', ...session, merchantSeen: false, error }]);
  });

  it.each([
    ['lets the caller in again', 401, 'The broker accepts the credential again.'],
    ['answers again', 502, 'The broker answers again.'],
  ])(
    'is the end of its session behind that the broker %s, where one answer shows both',
    async (_what, status, over) => {
      [refusal, refusalStatus] = [{}, status];
      interrupt();
      follow();
      await look({});
      await look({});
      expect(told).toHaveLength(1);
      refusal = undefined;
      listed = { ...WELL, ...ended('nothing listens there') };
      await clock.advance(1);
      await eventually(() => told.length === 3);
      expect(told.slice(1)).toEqual([over, 'expired: nothing listens there (runbook: renewals-failing)']);
    },
  );

  it('is for programs when the next attempt comes, with the condition and with the end of a session', async () => {
    const retryAt = '2026-11-23T12:10:00Z';
    await look({ ...FAILING, retryAt });
    follow();
    await look({ ...ended('nothing listens there'), retryAt });
    expect(facts).toMatchObject([
      { event: 'condition', condition: 'failing', retryAt },
      { event: 'expired', generation: 7, retryAt },
    ]);
  });

  it('is at the end of a session when the next attempt comes, which is not after its end', async () => {
    follow();
    const retryAt = toRfc3339(plusMs(clock.now(), 60_000));
    await look({ ...ended('nothing listens there'), state: 'fresh', expiresAt: toRfc3339(clock.now()), retryAt });
    expect(told[0]).toMatch(/; next attempt at \S+ UTC, and again until one succeeds$/);
  });

  it('is once that a spent budget keeps it from a session, however near its end is', async () => {
    for (const until of ['18:14', '2026-11-24 00:14', '18:14:00'])
      await look(
        ended(`all 5 create calls of 10 min are spent; the next one is free at ${until} UTC`, 'budget-exhausted'),
      );
    expect(told).toHaveLength(1);
  });

  it('is once that its renewals fail, with the cause and its runbook, and once that they no longer do', async () => {
    const refused = { condition: 'failing', cause: 'the bank refuses', runbook: 'access-refused' };
    await look(refused);
    await look({ condition: 'renewing', renewing: true });
    await look(refused);
    await look({});
    await look({});
    expect(told).toEqual(['failing: the bank refuses (runbook: access-refused)', 'fresh']);
    expect(facts).toEqual([
      {
        event: 'condition',
        merchant: 'shop',
        condition: 'failing',
        cause: 'the bank refuses',
        runbook: 'access-refused',
        place: replica.url.origin,
      },
      { event: 'condition', merchant: 'shop', condition: 'fresh', place: replica.url.origin },
    ]);
  });

  it('is another cause of renewals that fail, and not the next attempt at them', async () => {
    const failing = { condition: 'failing', runbook: 'renewals-failing', lastFailure: { kind: 'transient', at: '' } };
    for (const retryAt of ['2026-11-23T12:00:00Z', '2026-11-23T12:10:00Z'])
      await look({ ...failing, retryAt, cause: 'nothing listens there' });
    await look({ ...failing, cause: 'its name has no address' });
    expect(told).toEqual([
      'failing: nothing listens there (runbook: renewals-failing); next attempt at 2026-11-23 12:00:00 UTC, and again until one succeeds',
      'failing: its name has no address (runbook: renewals-failing)',
    ]);
  });

  it('is once that somebody else may still create its sessions, whatever is renewed meanwhile, and that it is well', async () => {
    const quiet = (span: string): Partial<ListedMerchant> => ({
      cause: `no consumer has reported a dead session to this replica for ${span}; somebody else may still create sessions`,
      runbook: 'foreign-authorizer',
      quietSince: '2026-11-23T12:00:00Z',
    });
    await look(quiet('3 min'));
    await look({ ...quiet('4 min'), condition: 'renewing', renewing: true });
    await look(quiet('5 min'));
    await look({});
    expect(told).toEqual([
      'fresh: no consumer has reported a dead session to this replica for 3 min; somebody else may still create sessions (runbook: foreign-authorizer)',
      'fresh',
    ]);
  });

  it('is which replica says so, where it is another one than before', async () => {
    ofOther = WELL;
    await look({ condition: 'watched', cause: 'somebody else may create some', runbook: 'foreign-authorizer' });
    replica.changeOver();
    await look({});
    expect(told).toEqual([
      'watched: somebody else may create some (runbook: foreign-authorizer)',
      `fresh at http://127.0.0.1:${other.port}`,
    ]);
    expect(facts).toMatchObject([server, other].map(({ port }) => ({ place: `http://127.0.0.1:${port}` })));
  });

  it('is once what counts down, and again when anything else of it has changed', async () => {
    const spent = (until: string, left: string): Partial<ListedMerchant> => ({
      condition: 'held_back',
      cause: `all 5 create calls of 10 min are spent; the next one is free at ${until} UTC; its session is good for another ${left}`,
      runbook: 'budget-exhausted',
      retryAt: `2026-11-23T${until.slice(0, 5)}:00Z`,
    });
    for (const left of ['2 min', '119 s', '28 s', '23 s']) await look(spent('18:14', left));
    // To the second once it is near.
    await look(spent('18:14:00', '20 s'));
    await look(spent('18:28', '18 s'));
    expect(told).toEqual([
      'not renewed: all 5 create calls of 10 min are spent; the next one is free at 18:14 UTC; its session is good for another 2 min (runbook: budget-exhausted)',
      'not renewed: all 5 create calls of 10 min are spent; the next one is free at 18:28 UTC; its session is good for another 18 s (runbook: budget-exhausted)',
    ]);
  });

  it('is that the replica has lost its store, once whatever becomes of the connection, and that it has it again', async () => {
    for (const [store, storeReason] of [
      ['answers'],
      ['silent'],
      ['silent', 'ECONNREFUSED'],
      ['unknown'],
      ['answers'],
    ]) {
      ofStore = { replica: 'broker-0', store, storeReason };
      await look({ renewalBlocked: store === 'silent' });
    }
    expect(told).toEqual([
      'broker-0: The store does not answer: sessions are served from memory, and nothing is renewed (runbook: store-down).',
      'broker-0: The store answers.',
    ]);
    const at = { event: 'store', place: `http://127.0.0.1:${server.port}`, replica: 'broker-0' };
    expect(facts).toEqual([
      { ...at, store: 'silent', runbook: 'store-down' },
      { ...at, store: 'answers' },
    ]);
  });

  it('is that another replica that is followed then has no store, either', async () => {
    for (const replica of ['broker-0', 'broker-1']) {
      ofStore = { replica, store: 'refuses', storeReason: 'NOPERM' };
      await look({});
    }
    const refuses =
      'The store refuses (NOPERM): it denies our user a right; sessions are served from memory. Run session-broker doctor, which names the right, and have it granted (runbook: store-down).';
    expect(told).toEqual([`broker-0: ${refuses}`, `broker-1: ${refuses}`]);
  });

  it('is asked of the replica that is followed now', async () => {
    replica.changeOver();
    const before = clock.looksAskedFor;
    await clock.advance(LOOK_MS);
    await eventually(() => clock.looksAskedFor > before);
    expect(told).toEqual(['failing: the bank refuses (runbook: access-refused)']);
  });

  it('is whatever else is wrong while there is a session, in a newer word of the broker, too', async () => {
    await look({ condition: 'held_back', cause: 'the budget is spent', runbook: 'budget-exhausted' });
    await look({ condition: 'taken_away' });
    expect(told).toEqual(['not renewed: the budget is spent (runbook: budget-exhausted)', 'taken away']);
  });
});
