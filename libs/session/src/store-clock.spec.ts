import { type Instant, instantFromEpochMs, plusMs } from '#libs/clock';
import { FakeClock } from '#libs/testing';
import { StoreClock } from './store-clock.js';

const startsAt = new FakeClock().now();

/** A replica and a store whose clock keeps real time until somebody sets it. */
class Watched {
  readonly clock = new FakeClock();
  readonly storeClock = new StoreClock(this.clock);
  #setByMs = 0;

  /** The store answers halfway through the request. */
  ask(tookMs = 0): ReturnType<StoreClock['note']> {
    const askedAtMs = this.clock.monotonicMs();
    this.clock.freeze(tookMs / 2);
    const storeNow = plusMs(startsAt, this.clock.monotonicMs() + this.#setByMs);
    this.clock.freeze(tookMs / 2);
    return this.storeClock.note(storeNow, askedAtMs);
  }

  setStore(byMs: number): this {
    this.#setByMs += byMs;
    return this;
  }

  setWall(byMs: number): this {
    this.clock.jumpWall(byMs);
    return this;
  }

  pass(ms: number): this {
    this.clock.freeze(ms);
    return this;
  }

  /** Real time passed on our wall clock and the store's, but not on our monotonic clock. */
  suspend(ms: number): this {
    return this.setWall(ms).setStore(ms);
  }
}

function askedOnce(): Watched {
  const watched = new Watched();
  watched.ask();
  return watched;
}

describe('our wall clock', () => {
  it.each([
    [0, 0],
    [2_000, 0],
    [2_001, 2_001],
    [-2_000, 0],
    [-2_001, -2_001],
  ])('set by %d ms has drifted by %d ms', (byMs, driftMs) => {
    expect(new Watched().pass(5_000).setWall(byMs).storeClock.driftMs).toBe(driftMs);
  });

  const table = {
    'that runs as it did agrees': [askedOnce().pass(10_000), undefined],
    'that was set within the tolerance agrees': [askedOnce().setWall(2_000), undefined],
    'that was set ahead alone was set': [askedOnce().setWall(2_001), 0],
    'that was set back alone was set': [askedOnce().setWall(-3_600_000), 0],
    "that was set back as the store's was set": [askedOnce().suspend(-600_000), 0],
    'is right when the store has gone ahead as far': [askedOnce().suspend(600_000), 600_000],
    'is right when the store has gone ahead further, within the tolerance': [
      askedOnce().suspend(600_000).setStore(2_000),
      600_000,
    ],
    'was set when the store has gone ahead much further': [askedOnce().suspend(600_000).setStore(2_001), 0],
    'is right when the store has gone ahead less, within the tolerance': [
      askedOnce().suspend(600_000).setStore(-2_000),
      600_000,
    ],
    'was set when the store has gone ahead much less': [askedOnce().suspend(600_000).setStore(-2_001), 0],
    'was not judged by a first answer': [new Watched().setWall(600_000), undefined],
  } as const;

  it.each(Object.entries(table))('%s', (_name, [watched, verdict]) => {
    expect(watched.ask()).toEqual(verdict);
  });

  it('is still in doubt after the first answer, and confirmed by the second', () => {
    const watched = new Watched().setWall(600_000);
    watched.ask();
    expect(watched.storeClock.driftMs).toBe(600_000);
    expect(watched.ask()).toEqual(0);
    expect(watched.storeClock.driftMs).toBe(0);
  });

  it('shows how long the machine may have slept, until the store or its silence has settled that', () => {
    const watched = askedOnce().pass(1_000).setWall(600_000);
    expect(watched.storeClock.suspectMs).toBe(600_000);
    watched.ask();
    expect(watched.storeClock.suspectMs).toBe(0);
    expect(watched.setWall(-600_000).storeClock.suspectMs).toBe(0);
    watched.setWall(1_200_000).storeClock.believeMonotonic();
    expect(watched.storeClock.suspectMs).toBe(0);
  });

  it('is judged from where it was confirmed last', () => {
    const watched = askedOnce().setWall(10_000);
    watched.ask();
    expect(watched.setWall(-2_001).storeClock.driftMs).toBe(-2_001);
  });
});

describe('the age of a session', () => {
  /** Ten minutes old by our wall clock. */
  const createdAt = plusMs(startsAt, -600_000);
  const ageOf = ({ storeClock, clock }: Watched, storeAgeMs: number): number =>
    storeClock.ageMs(storeAgeMs, instantFromEpochMs(createdAt + clock.monotonicMs()));

  it('is the older of two before the store was ever heard', () => {
    expect(ageOf(new Watched(), 0)).toBe(600_000);
    expect(ageOf(new Watched(), 600_001)).toBe(600_001);
  });

  it("is the store's for the time in which its clock was watched", () => {
    const watched = askedOnce().pass(1_000);
    expect([ageOf(watched, 0), ageOf(watched, 1_000), ageOf(watched, 1_001)]).toEqual([0, 1_000, 600_000]);
  });

  it('counts as watched from the question on', () => {
    const watched = new Watched();
    watched.ask(1_000);
    expect([ageOf(watched, 1_000), ageOf(watched, 1_001)]).toEqual([1_000, 600_000]);
  });

  it("is our wall clock's when the store's was set back since", () => {
    expect(ageOf(askedOnce().pass(1_000), -1)).toBe(600_000);
  });

  it('contains the time that the publication was on its way, as far as wall clocks that agree can tell', () => {
    const watched = askedOnce().pass(5_000);
    const createdAgo = (ms: number): Instant => plusMs(watched.clock.now(), -ms);
    expect(watched.storeClock.ageMs(1_000, createdAgo(1_040))).toBe(1_040);
    expect(watched.storeClock.ageMs(1_000, createdAgo(3_000))).toBe(3_000);
    expect(watched.storeClock.ageMs(1_000, createdAgo(3_001))).toBe(1_000);
    expect(watched.storeClock.ageMs(1_000, createdAgo(960))).toBe(1_000);
  });

  it('is never negative', () => {
    const watched = askedOnce();
    expect(watched.storeClock.ageMs(-5, plusMs(watched.clock.now(), 60_000))).toBe(0);
  });

  it.each([
    ['stays watched while the store answers at its pace', [0, 0], true],
    ['stays watched when the store goes ahead within the tolerance', [2_000, 0], true],
    ['is watched anew when the store goes ahead of it', [2_001, 0], false],
    ['is watched anew when the store falls back', [-2_001, 0], false],
    ['stays watched as far ahead as a slow answer can explain', [2_500, 1_000], true],
    ['is watched anew further ahead than a slow answer can explain', [2_501, 1_000], false],
    ['stays watched as far back as a slow answer can explain', [-2_500, 1_000], true],
    ['is watched anew further back than a slow answer can explain', [-2_501, 1_000], false],
  ] as const)('%s, whichever of the two answers is the slow one', (_name, [byMs, tookMs], isBelieved) => {
    const watched = askedOnce().pass(10_000).setStore(byMs);
    watched.ask(tookMs);
    expect(ageOf(watched, 10_000)).toBe(isBelieved ? 10_000 : 600_000);
    expect(ageOf(watched, tookMs)).toBe(tookMs);
    const slowFirst = new Watched();
    slowFirst.ask(tookMs);
    slowFirst
      .pass(10_000 - tookMs)
      .setStore(byMs)
      .ask();
    expect(ageOf(slowFirst, 10_000)).toBe(isBelieved ? 10_000 : 600_000);
  });
});
