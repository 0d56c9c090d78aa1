import { instantFromEpochMs } from '#libs/clock';
import { FakeClock } from '#libs/testing';
import { StoreClock } from './store-clock.js';

const HOUR = 3_600_000;

/** A store whose clock runs `aheadMs` ahead of real time, over a connection that takes `wayMs`. */
function watched(): {
  clock: FakeClock;
  storeClock: StoreClock;
  note: (aheadMs?: number, wayMs?: number) => ReturnType<StoreClock['note']>;
} {
  const clock = new FakeClock();
  const storeClock = new StoreClock(clock);
  const startedAt = clock.now();
  const note = (aheadMs = 0, wayMs = 0): ReturnType<StoreClock['note']> => {
    const askedAtMs = clock.monotonicMs();
    const now = instantFromEpochMs(startedAt + askedAtMs + aheadMs);
    clock.freeze(wayMs);
    return storeClock.note(now, askedAtMs);
  };
  return { clock, storeClock, note };
}

describe('our clocks, with that of the store as a third', () => {
  it('agree while they run evenly, whatever each of them shows', () => {
    const { clock, storeClock, note } = watched();
    for (let answer = 0; answer < 3; answer += 1) {
      clock.freeze(60_000);
      expect(note(HOUR, 100)).toEqual({ kind: 'agreed' });
    }
    expect(storeClock.driftMs).toBe(0);
  });

  it.each([
    [2_000, 0],
    [2_001, 2_001],
    [-2_000, 0],
    [-2_001, -2_001],
  ])('drift apart beyond two seconds: %d ms are %d', (byMs, driftMs) => {
    const { clock, storeClock } = watched();
    clock.jumpWall(byMs);
    expect(storeClock.driftMs).toBe(driftMs);
  });

  it.each([HOUR, -HOUR])('show that our wall clock was set when the store went on evenly: by %d ms', (byMs) => {
    const { clock, storeClock, note } = watched();
    note();
    clock.jumpWall(byMs);
    expect(note()).toEqual({ kind: 'wall_set' });
    expect(storeClock.driftMs).toBe(0);
    expect(note()).toEqual({ kind: 'agreed' });
  });

  it('show that the machine was suspended when the store went as far as our wall clock', () => {
    const { clock, storeClock, note } = watched();
    note();
    clock.jumpWall(HOUR);
    expect(note(HOUR)).toEqual({ kind: 'suspended', forMs: HOUR });
    expect(storeClock.driftMs).toBe(0);
    expect(note(HOUR)).toEqual({ kind: 'agreed' });
  });

  it('take a wall clock that went back for one that was set, even when the store went back as far', () => {
    const { clock, note } = watched();
    note();
    clock.jumpWall(-HOUR);
    expect(note(-HOUR)).toEqual({ kind: 'wall_set' });
  });

  it.each([
    [HOUR + 2_000, 'suspended'],
    [HOUR - 2_000, 'suspended'],
    [HOUR + 2_001, 'wall_set'],
    [HOUR - 2_001, 'wall_set'],
  ])('tell a suspended machine to within two seconds: the store went on by %d ms, so %s', (movedMs, kind) => {
    const { clock, note } = watched();
    note();
    clock.jumpWall(HOUR);
    expect(note(movedMs).kind).toBe(kind);
  });

  it('prove nothing by the first answer, and keep the drift until the second', () => {
    const { clock, storeClock, note } = watched();
    clock.jumpWall(HOUR);
    expect(note()).toEqual({ kind: 'agreed' });
    expect(storeClock.driftMs).toBe(HOUR);
    expect(note()).toEqual({ kind: 'wall_set' });
  });
});

describe('the age of a session that the store tells', () => {
  const createdAt = (clock: FakeClock, ageMs: number) => instantFromEpochMs(clock.now() - ageMs);

  it('is believed for the time in which the store was watched to run evenly', () => {
    const { clock, storeClock, note } = watched();
    note();
    clock.freeze(10_000);
    note();
    expect(storeClock.ageMs(10_000, createdAt(clock, 50_000))).toBe(10_000);
    expect(storeClock.ageMs(0, createdAt(clock, 50_000))).toBe(0);
    expect(storeClock.ageMs(10_001, createdAt(clock, 50_000))).toBe(50_000);
    expect(storeClock.ageMs(60_000, createdAt(clock, 50_000))).toBe(60_000);
  });

  it('is never below nothing, and not believed when it is', () => {
    const { clock, storeClock, note } = watched();
    note();
    clock.freeze(10_000);
    expect(storeClock.ageMs(-5, createdAt(clock, 7_000))).toBe(7_000);
    expect(storeClock.ageMs(-5, createdAt(clock, -7_000))).toBe(0);
  });

  it('is not believed before anything was heard of the store', () => {
    const { clock, storeClock } = watched();
    clock.freeze(10_000);
    expect(storeClock.ageMs(1_000, createdAt(clock, 7_000))).toBe(7_000);
  });

  it.each([HOUR, -HOUR])('is not believed from before the clock of the store was set by %d ms', (byMs) => {
    const { clock, storeClock, note } = watched();
    note();
    clock.freeze(10_000);
    note(byMs);
    clock.freeze(3_000);
    expect(storeClock.ageMs(3_000, createdAt(clock, 50_000))).toBe(3_000);
    expect(storeClock.ageMs(3_001, createdAt(clock, 50_000))).toBe(50_000);
  });

  it.each([
    ['two seconds ahead', [[2_000, 0]], true],
    [
      'two seconds behind',
      [
        [0, 0],
        [-2_000, 0],
      ],
      true,
    ],
    ['more than two seconds ahead', [[2_001, 0]], false],
    ['more than two seconds behind', [[-2_001, 0]], false],
    [
      'two seconds before the beginning of a slow answer',
      [
        [0, 5_000],
        [-7_000, 0],
      ],
      true,
    ],
    [
      'more than two seconds before the beginning of a slow answer',
      [
        [0, 5_000],
        [-7_001, 0],
      ],
      false,
    ],
    [
      'two seconds after a slow answer',
      [
        [0, 5_000],
        [2_000, 0],
      ],
      true,
    ],
    [
      'more than two seconds after a slow answer',
      [
        [0, 5_000],
        [2_001, 0],
      ],
      false,
    ],
    ['a slow answer that began two seconds ahead', [[7_000, 5_000]], true],
    ['a slow answer that began more than two seconds ahead', [[7_001, 5_000]], false],
  ])('is believed on while the store may have run evenly: %s', (_case, answers, isBelieved) => {
    const { clock, storeClock, note } = watched();
    note();
    clock.freeze(20_000);
    for (const [aheadMs, wayMs] of answers) note(aheadMs, wayMs);
    expect(storeClock.ageMs(20_000, createdAt(clock, 50_000))).toBe(isBelieved ? 20_000 : 50_000);
  });
});
