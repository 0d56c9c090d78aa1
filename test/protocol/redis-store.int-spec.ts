import { SystemClock } from '#libs/clock';
import { generateClientKey, importClientKey } from '#libs/jwe';
import type { ClaimResult, CreateCallBudget, DueMerchants, Lease, SessionStore, StoredState } from '#libs/session';
import { MemorySessionStore, RedisSessionStore } from '#libs/store';
import { aClaim, aDeathReport, aPublication, aRecordedFailure, aSession } from '#libs/testing';
import { describeWith, endedAfterAll, FakeClock, PATIENT_REDIS, RedisProcess } from '#libs/testing';
import fc from 'fast-check';
import { Redis } from 'ioredis';

/** Nothing this long ends during a run, so that a run has a single moment, and only order counts. */
const LONG_MS = 600_000;
const MERCHANTS = ['shop', 'second'] as const;

let redis: RedisProcess;
let plain: Redis;
let tested: RedisSessionStore;

const started = endedAfterAll();
beforeAll(async () => {
  redis = started.add(await RedisProcess.start(), (it) => it.stop());
  plain = started.add(new Redis(redis.port, '127.0.0.1'), (it) => it.disconnect());
  const key = await importClientKey((await generateClientKey()).privateJwk);
  tested = started.add(
    await RedisSessionStore.open({
      connection: { kind: 'single', address: redis.address, database: 0 },
      keyPrefix: 'model',
      keysOf: () => [key],
      clock: new SystemClock(),
      onStateChange: () => undefined,
      timeouts: PATIENT_REDIS,
    }),
    (it) => it.close(),
  );
});

/** Waits until Redis counts another millisecond than when this was asked. */
async function anotherMillisecond(): Promise<void> {
  const now = async (): Promise<string> => {
    const [seconds, microseconds] = await plain.time();
    return `${seconds} ${Math.floor(Number(microseconds) / 1_000)}`;
  };
  const before = await now();
  while ((await now()) === before);
}

/** Two stores that are asked the same. Each numbers by its own clock: one number stands for the other by its place. */
class Pair {
  readonly #stores: readonly [SessionStore, SessionStore];
  /** Granted at both: a lease is known by its place. */
  readonly #leases: (readonly [Lease, Lease])[] = [];

  constructor(specified: SessionStore) {
    this.#stores = [specified, tested];
  }

  /** The lease that `pick` stands for, at each store; undefined before the first. */
  lease(side: number, pick: number, of?: string): Lease | undefined {
    const leases = this.#leases.filter(([{ merchant }]) => of === undefined || merchant === of);
    return leases[pick % leases.length]?.[side];
  }

  /** Asks both, and compares what they answer. */
  async same<Result>(
    ask: (store: SessionStore, side: number) => Promise<Result>,
    shown = (it: Result, _side: number): unknown => it,
  ): Promise<void> {
    const [specified, real] = this.#stores;
    expect(shown(await ask(real, 1), 1)).toEqual(shown(await ask(specified, 0), 0));
  }

  async claim(ask: (store: SessionStore, side: number) => Promise<ClaimResult>): Promise<void> {
    const [specified, real] = await Promise.all(this.#stores.map(ask));
    if (specified?.kind === 'claimed' && real?.kind === 'claimed') {
      const isKnown = this.#leases.some(
        ([lease]) => lease.fence === specified.lease.fence && lease.merchant === specified.lease.merchant,
      );
      if (!isKnown) this.#leases.push([specified.lease, real.lease]);
    }
    expect(real && this.#claimShown(real, 1)).toEqual(specified && this.#claimShown(specified, 0));
  }

  async check(): Promise<void> {
    const wanted = MERCHANTS.map((merchant) => ({ merchant, known: 0 }));
    await this.same(
      (store) => store.read(wanted),
      ({ states }, side) => states.map((state) => this.#stateShown(state, side)),
    );
    await this.same((store) => store.due(10), dueShown);
  }

  #placeOf(merchant: string, generation: number, side: number): unknown {
    const place = this.#leases.findIndex(
      (pair) => pair[side]?.merchant === merchant && pair[side].fence === generation,
    );
    return place < 0 ? 'of no lease' : place;
  }

  #claimShown(result: ClaimResult, side: number): unknown {
    if (result.kind === 'already_newer') return result.kind;
    if (result.kind !== 'claimed') return { ...result, retryInMs: inUnits(result.retryInMs) };
    const { merchant, owner, fence, failures, remainingMs } = result.lease;
    return { merchant, owner, failures, lease: this.#placeOf(merchant, fence, side), remaining: inUnits(remainingMs) };
  }

  #stateShown({ merchant, stored, reportedDead, dueInMs, ...state }: StoredState, side: number): unknown {
    const generation = stored.kind === 'session' ? stored.session.generation : 0;
    return {
      ...state,
      merchant,
      stored:
        stored.kind === 'session' ? [this.#placeOf(merchant, generation, side), inUnits(stored.ageMs)] : stored.kind,
      reported: reportedDead && { ...reportedDead, generation: 0, ageMs: inUnits(reportedDead.ageMs) },
      due: inUnits(dueInMs),
    };
  }
}

const inUnits = (durationMs: number): number => Math.round(durationMs / LONG_MS) + 0;

const dueShown = ({ merchants, nextDueInMs }: DueMerchants): unknown => ({
  merchants: [...merchants].sort(),
  next: nextDueInMs === undefined ? undefined : inUnits(nextDueInMs),
});

interface Step {
  readonly name: string;
  readonly act: (pair: Pair) => Promise<void>;
}

function steps<Drawn>(
  name: string,
  drawing: fc.Arbitrary<Drawn>,
  act: (pair: Pair, drawn: Drawn) => Promise<void>,
): fc.Arbitrary<Step> {
  return drawing.map((drawn) => ({ name: `${name} ${JSON.stringify(drawn)}`, act: (pair) => act(pair, drawn) }));
}

const merchant = fc.constantFrom(...MERCHANTS);
const later = fc.constantFrom(0, LONG_MS);
const budgets: readonly CreateCallBudget[] = [
  [{ calls: 1, perMs: 2 * LONG_MS }],
  [{ calls: 3, perMs: 2 * LONG_MS }],
  [
    { calls: 3, perMs: 2 * LONG_MS },
    { calls: 2, perMs: LONG_MS },
  ],
];

const claims = steps(
  'claim',
  fc.record({
    merchant,
    owner: fc.constantFrom('replica-1', 'replica-2', 'replica-3'),
    mode: fc.constantFrom('when_due', 'when_wanted'),
    coolDownMs: fc.constantFrom(0, 0, LONG_MS),
    budget: fc.constantFrom(...budgets),
    ignoresBackOff: fc.boolean(),
    above: fc.option(fc.nat()),
    called: fc.option(fc.nat()),
  }),
  (pair, { above, called, ...drawn }) =>
    pair.claim((store, side) => {
      const fenceOf = (pick: number | null): number =>
        pick === null ? 0 : (pair.lease(side, pick, drawn.merchant)?.fence ?? 0);
      return store.claim(aClaim({ ...drawn, leaseMs: LONG_MS, newerThan: fenceOf(above), floor: fenceOf(called) }));
    }),
);

/** Under its lease, as somebody else's, or without one. */
const publications = steps(
  'publish',
  fc.record({ pick: fc.nat(), isUnderLease: fc.boolean(), nextDueInMs: later, ageMs: later }),
  (pair, { pick, isUnderLease, ...times }) =>
    pair.same(async (store, side) => {
      const lease = pair.lease(side, pick);
      if (lease === undefined) return undefined;
      const session = aSession({ merchant: lease.merchant, generation: lease.fence });
      return store.publish(aPublication(session, times), isUnderLease ? lease : undefined);
    }),
);

const releases = steps(
  'release',
  fc.record({ pick: fc.nat(), nextDueInMs: later, called: fc.boolean(), failed: fc.boolean() }),
  (pair, { pick, failed, ...release }) =>
    pair.same(async (store, side) => {
      const lease = pair.lease(side, pick);
      const failure = failed ? { failure: aRecordedFailure() } : {};
      return lease === undefined ? undefined : store.release(lease, { ...release, ...failure });
    }),
);

const reports = steps(
  'report',
  fc.record({ pick: fc.nat(), ageMs: later, mayProve: fc.boolean() }),
  (pair, { pick, ...drawn }) =>
    pair.same(async (store, side) => {
      const lease = pair.lease(side, pick);
      if (lease === undefined) return undefined;
      return store.report(lease.merchant, aDeathReport({ ...drawn, generation: lease.fence }));
    }),
);

describeWith('redis-server', 'RedisSessionStore beside the store in memory, whose rules are the specification', () => {
  it('answers the same to any sequence of questions', async () => {
    const sequences = fc.array(
      fc.oneof(
        { weight: 5, arbitrary: claims },
        { weight: 4, arbitrary: publications },
        { weight: 3, arbitrary: releases },
        { weight: 2, arbitrary: reports },
      ),
      { maxLength: 60, size: 'max' },
    );
    await fc.assert(
      fc.asyncProperty(sequences, async (sequence) => {
        await plain.flushdb();
        const clock = new FakeClock();
        const pair = new Pair(new MemorySessionStore({ clock }));
        for (const { act } of sequence) {
          // No two steps are of one millisecond at either: a release gives back what began with its lease.
          clock.freeze(1);
          await anotherMillisecond();
          await act(pair);
          await pair.check();
        }
      }),
      { numRuns: 150 },
    );
  });
});
