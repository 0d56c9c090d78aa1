import { BrokerError } from '#libs/errors';
import { aRecordedFailure, aSession, FakeClock } from '#libs/testing';
import type { Cause } from './cause.js';
import type { RenewalRequest } from './claims.js';
import { FailureBoard } from './failure-board.js';
import { HeldSessions } from './held-sessions.js';
import type { RenewalResult } from './renewal-result.js';
import { type ReadWish, type ServedSession, SessionReader, type SessionReaderContext } from './session-reader.js';

const silent = new BrokerError('store_unavailable');
const bug = new TypeError('not a function');
const failed: RenewalResult = { kind: 'failed', because: 'transient', retryInMs: 1_500 };

/** One replica's readers, with a renewer and a store played by the test. */
class Reading {
  readonly clock = new FakeClock();
  readonly held = new HeldSessions(this.clock);
  readonly failures = new FailureBoard();
  readonly renewals: RenewalRequest[] = [];
  readonly broken: unknown[] = [];
  readonly aborting = new AbortController();
  refreshes = 0;
  refreshing: () => Promise<void> = async () => undefined;
  retryInMs: number | undefined;
  cause: Cause | undefined;
  readonly #endings: ((result: RenewalResult | Error) => void)[] = [];
  readonly reader = new SessionReader({
    clock: this.clock,
    held: this.held,
    failures: this.failures,
    renewer: { renew: (wish: RenewalRequest) => this.#renew(wish), retryInMs: () => this.retryInMs },
    sync: {
      refresh: () => ((this.refreshes += 1), this.refreshing()),
      want: () => undefined,
      reportBroken: (activity: string, error: unknown) => this.broken.push([activity, error]),
    },
    why: () => 'transient',
    causeFor: () => this.cause,
  } as unknown as SessionReaderContext);

  holding(generation: number, ageMs = 0): this {
    this.held.adopt(aSession({ generation }), ageMs);
    return this;
  }

  /** A reader that waits a second for what it wants. */
  read(wish: Partial<ReadWish> = {}): Outcome {
    const { signal } = this.aborting;
    return new Outcome(
      this.reader.read({
        merchant: 'shop',
        minRemainingMs: 0,
        waitMs: 1_000,
        waitsThroughFailure: false,
        signal,
        ...wish,
      }),
    );
  }

  /** The wall clock was set, and the store has not yet shown which clock is right. */
  async withClockSet(byMs: number): Promise<this> {
    this.clock.jumpWall(byMs);
    return this;
  }

  /** Waiting must leave nothing behind. */
  get left(): number {
    return this.clock.pendingTasks;
  }

  /** The result for everyone who is waiting for a renewal now. */
  end(result: RenewalResult | Error): void {
    for (const end of this.#endings.splice(0)) end(result);
  }

  #renew(wish: RenewalRequest): Promise<RenewalResult> {
    this.renewals.push(wish);
    return new Promise((resolve, reject) => {
      this.#endings.push((result) => (result instanceof Error ? reject(result) : resolve(result)));
    });
  }
}

/** What a reader has got so far. */
class Outcome {
  served: ServedSession | undefined;
  error: unknown;

  constructor(read: Promise<ServedSession>) {
    read.then(
      (served) => (this.served = served),
      (error: unknown) => (this.error = error),
    );
  }

  get generation(): number | undefined {
    return this.served?.session.generation;
  }

  get isOpen(): boolean {
    return this.served === undefined && this.error === undefined;
  }
}

const refused = { code: 'session_unavailable', retryAfterMs: 1_000 };

describe('a read', () => {
  it('of a fresh session is answered from memory, and sets nothing going', async () => {
    const reading = new Reading().holding(12);
    const read = reading.read();
    await reading.clock.settle();
    expect(read.served).toMatchObject({ session: { generation: 12 }, verdict: { result: 'fresh', reason: 'current' } });
    expect([reading.renewals, reading.refreshes]).toEqual([[], 0]);
  });

  it('past the margin is answered at once, and a renewal goes on beside it', async () => {
    const reading = new Reading().holding(12, 880_000);
    const read = reading.read();
    await reading.clock.settle();
    expect(read.served).toMatchObject({ session: { generation: 12 }, verdict: { result: 'stale' } });
    expect(reading.renewals).toEqual([{ merchant: 'shop', trigger: 'demand', newerThan: 12, coolDownMs: 0 }]);
    reading.end(bug);
    await reading.clock.settle();
    expect(reading.broken).toEqual([['background renewal', bug]]);
  });

  it('that wants more than is left waits for a renewal that keeps a cool-down, and gets what there is if it fails', async () => {
    const reading = new Reading().holding(12, 300_000);
    const read = reading.read({ minRemainingMs: 660_000 });
    await reading.clock.settle();
    expect(reading.renewals).toMatchObject([{ newerThan: 12, coolDownMs: 10_000 }]);
    expect(read.isOpen).toBe(true);
    reading.end(failed);
    await reading.clock.settle();
    expect(read.generation).toBe(12);
  });

  it('that wants more of a session at its very margin replaces nothing that is fresh', async () => {
    const reading = new Reading().holding(12, 869_999);
    reading.read({ minRemainingMs: 660_000 });
    await reading.clock.settle();
    expect(reading.renewals).toMatchObject([{ coolDownMs: 0 }]);
  });

  it('that finds nothing waits for the session that comes of it, or for that of another replica', async () => {
    const reading = new Reading();
    const read = reading.read();
    await reading.clock.advance(500);
    expect([read.isOpen, reading.renewals]).toMatchObject([true, [{ newerThan: 0, coolDownMs: 0 }]]);
    reading.holding(12);
    await reading.clock.settle();
    expect([read.generation, reading.left]).toEqual([12, 0]);
  });

  it('that finds nothing is refused when its time is up, or its reader has gone', async () => {
    const reading = new Reading();
    const read = reading.read();
    await reading.clock.advance(999);
    expect(read.isOpen).toBe(true);
    await reading.clock.advance(1);
    expect(read.error).toMatchObject(refused);
    const gone = reading.read();
    await reading.clock.settle();
    reading.aborting.abort();
    await reading.clock.settle();
    expect([gone.error, reading.left]).toMatchObject([refused, 0]);
  });

  it.each<[string, (reading: Reading) => void]>([
    ['here', (reading) => reading.end(failed)],
    ['elsewhere', (reading) => void reading.failures.note('shop', aRecordedFailure())],
  ])(
    'that finds nothing is refused as soon as the attempt has failed %s, but for a patient one',
    async (_name, fail) => {
      const reading = new Reading();
      const [read, patient] = [reading.read(), reading.read({ waitsThroughFailure: true })];
      await reading.clock.settle();
      fail(reading);
      await reading.clock.settle();
      expect([read.error, patient.isOpen]).toMatchObject([refused, true]);
      reading.holding(12);
      await reading.clock.settle();
      expect([patient.generation, reading.left]).toEqual([12, 0]);
    },
  );

  it('waits on while another replica is at it', async () => {
    const reading = new Reading();
    const read = reading.read();
    await reading.clock.settle();
    reading.end({ kind: 'held', retryInMs: 9_000 });
    await reading.clock.settle();
    expect(read.isOpen).toBe(true);
    reading.holding(12);
    await reading.clock.settle();
    expect(read.generation).toBe(12);
  });

  it('is refused with what there was, what failed last, and the time after which to ask again', async () => {
    const reading = new Reading();
    reading.failures.note('shop', aRecordedFailure({ kind: 'transient', msgCode: 'b_overload_error' }));
    reading.retryInMs = 7_000;
    reading.cause = { code: 'transient', msgCode: 'b_overload_error' };
    const read = reading.read({ waitMs: 0 });
    await reading.clock.advance(0);
    expect(read.error).toMatchObject({
      code: 'session_unavailable',
      retryAfterMs: 7_000,
      reason: 'transient',
      because: reading.cause,
      detail: 'merchant shop: no_session, last attempt transient (b_overload_error)',
    });
    const expired = new Reading().holding(12, 900_000);
    const late = expired.read({ waitMs: 0 });
    await expired.clock.advance(0);
    expect(late.error).toMatchObject({
      retryAfterMs: 1_000,
      because: undefined,
      detail: 'merchant shop: expired',
    });
  });

  it('that meets a bug throws it', async () => {
    const reading = new Reading();
    const read = reading.read();
    await reading.clock.settle();
    reading.end(bug);
    await reading.clock.settle();
    expect([read.error, reading.left]).toEqual([bug, 0]);
  });
});

describe('a wall clock that was set', () => {
  it('has the store asked before a session counts as expired', async () => {
    const reading = await new Reading().holding(12).withClockSet(3_600_000);
    reading.refreshing = async () => reading.clock.jumpWall(-3_600_000);
    const read = reading.read();
    await reading.clock.settle();
    expect([read.generation, reading.refreshes, reading.renewals]).toEqual([12, 1, []]);
  });

  it('decides nothing where the store does not answer, and hides no bug', async () => {
    const reading = await new Reading().holding(12).withClockSet(3_600_000);
    reading.refreshing = () => (reading.held.believeMonotonic(), Promise.reject(silent));
    const read = reading.read();
    await reading.clock.settle();
    expect([read.generation, reading.renewals]).toEqual([12, []]);
    reading.refreshing = () => Promise.reject(bug);
    const broken = reading.read();
    await reading.clock.settle();
    expect(broken.error).toBe(bug);
  });
});

describe('a demand', () => {
  it('sets a renewal going only where there is nothing to serve', async () => {
    const reading = new Reading();
    reading.reader.demand('shop');
    await reading.clock.settle();
    expect(reading.renewals).toEqual([{ merchant: 'shop', trigger: 'demand', newerThan: 0, coolDownMs: 0 }]);
    const served = new Reading().holding(12, 880_000);
    served.reader.demand('shop');
    await served.clock.settle();
    expect([served.renewals, reading.broken]).toEqual([[], []]);
  });

  it('sets none going for a session that a look at the store has shown to live', async () => {
    const reading = await new Reading().holding(12).withClockSet(3_600_000);
    reading.refreshing = async () => reading.clock.jumpWall(-3_600_000);
    reading.reader.demand('shop');
    await reading.clock.settle();
    expect([reading.refreshes, reading.renewals]).toEqual([1, []]);
  });

  it('asks no store about a session that is there to be served', async () => {
    const reading = await new Reading().holding(12).withClockSet(-3_600_000);
    reading.reader.demand('shop');
    await reading.clock.settle();
    expect(reading.refreshes).toBe(0);
  });

  it('reports a bug', async () => {
    const reading = await new Reading().withClockSet(3_600_000);
    reading.refreshing = () => Promise.reject(bug);
    reading.reader.demand('shop');
    await reading.clock.settle();
    expect(reading.broken).toEqual([['demand', bug]]);
  });
});

describe('a wait for a newer session', () => {
  async function waitFor(reading: Reading, generation: number, meanwhile: () => void): Promise<number | undefined> {
    const { signal } = reading.aborting;
    const newer = reading.reader.newerThan(generation, { merchant: 'shop', waitMs: 1_000, signal });
    await reading.clock.advance(500);
    meanwhile();
    await reading.clock.settle();
    expect(reading.left).toBe(reading.held.generationOf('shop') > generation ? 0 : 1);
    await reading.clock.advance(500);
    expect(reading.left).toBe(0);
    return (await newer)?.generation;
  }

  it('ends with it', async () => {
    const reading = new Reading().holding(12);
    expect(await waitFor(reading, 12, () => void reading.holding(14))).toBe(14);
  });

  it('does not end with a failure, and ends with nothing when the time is up', async () => {
    const reading = new Reading().holding(12);
    const fail = (): void => void reading.failures.note('shop', aRecordedFailure());
    expect(await waitFor(reading, 12, fail)).toBeUndefined();
    expect(await waitFor(new Reading(), 0, () => undefined)).toBeUndefined();
  });
});
