import { FakeClock } from '#libs/testing';
import { type MomentKind, MomentWatches } from './moment-watches.js';
import type { ClaimRefusal } from './ports/session-store.js';

const kinds: readonly MomentKind[] = ['lease', 'due', 'cool_down'];

function watching(): { clock: FakeClock; watches: MomentWatches } {
  const clock = new FakeClock();
  return { clock, watches: new MomentWatches(clock) };
}

describe('a moment that is watched', () => {
  it('is over a quarter of a second after the length that it had when it was first seen', () => {
    const { clock, watches } = watching();
    watches.see('shop', 'lease', { mark: 'first', inMs: 1_000 });
    clock.freeze(1_249);
    expect(watches.over('shop', 'lease')).toBeUndefined();
    clock.freeze(1);
    expect(watches.over('shop', 'lease')).toBe('first');
  });

  it.each([0, 900, 60_000])('keeps its first end when it is seen again unchanged, said to be %d ms away', (inMs) => {
    const { clock, watches } = watching();
    watches.see('shop', 'due', { mark: 'first', inMs: 1_000 });
    clock.freeze(500);
    watches.see('shop', 'due', { mark: 'first', inMs });
    clock.freeze(749);
    expect(watches.over('shop', 'due')).toBeUndefined();
    clock.freeze(1);
    expect(watches.over('shop', 'due')).toBe('first');
  });

  it('stays over, however often it is seen', () => {
    const { clock, watches } = watching();
    watches.see('shop', 'due', { mark: 'first', inMs: 1_000 });
    clock.freeze(1_250);
    watches.see('shop', 'due', { mark: 'first', inMs: 1_000 });
    expect(watches.over('shop', 'due')).toBe('first');
  });

  it('is watched anew when it was set anew', () => {
    const { clock, watches } = watching();
    watches.see('shop', 'due', { mark: 'first', inMs: 1_000 });
    clock.freeze(1_250);
    watches.see('shop', 'due', { mark: 'second', inMs: 500 });
    clock.freeze(749);
    expect(watches.over('shop', 'due')).toBeUndefined();
    clock.freeze(1);
    expect(watches.over('shop', 'due')).toBe('second');
  });

  it('is over by the monotonic clock, whatever wall clocks are set to', () => {
    const { clock, watches } = watching();
    watches.see('shop', 'due', { mark: 'first', inMs: 1_000 });
    clock.jumpWall(3_600_000);
    expect(watches.over('shop', 'due')).toBeUndefined();
    clock.jumpWall(-7_200_000);
    clock.freeze(1_250);
    expect(watches.over('shop', 'due')).toBe('first');
  });

  it('is one of its merchant and of its kind', () => {
    const { clock, watches } = watching();
    for (const kind of kinds) watches.see('shop', kind, { mark: kind, inMs: 0 });
    clock.freeze(250);
    expect(kinds.map((kind) => watches.over('shop', kind))).toEqual(kinds);
    expect(kinds.map((kind) => watches.over('stall', kind))).toEqual([undefined, undefined, undefined]);
  });

  it.each(kinds)('is forgotten alone when its kind is named: %s', (forgotten) => {
    const { clock, watches } = watching();
    for (const kind of kinds) watches.see('shop', kind, { mark: kind, inMs: 0 });
    clock.freeze(250);
    watches.forget('shop', forgotten);
    expect(kinds.filter((kind) => watches.over('shop', kind) === undefined)).toEqual([forgotten]);
  });

  it('is forgotten with all others of its merchant, and of no other merchant', () => {
    const { clock, watches } = watching();
    for (const kind of kinds) watches.see('shop', kind, { mark: kind, inMs: 0 });
    watches.see('stall', 'due', { mark: 'other', inMs: 0 });
    clock.freeze(250);
    watches.forget('shop');
    expect(kinds.map((kind) => watches.over('shop', kind))).toEqual([undefined, undefined, undefined]);
    expect(watches.over('stall', 'due')).toBe('other');
  });

  it('is watched from its beginning when it was forgotten meanwhile', () => {
    const { clock, watches } = watching();
    watches.see('shop', 'lease', { mark: 'first', inMs: 1_000 });
    clock.freeze(1_250);
    watches.forget('shop', 'lease');
    watches.see('shop', 'lease', { mark: 'first', inMs: 1_000 });
    expect(watches.over('shop', 'lease')).toBeUndefined();
  });
});

describe('what a refusal names', () => {
  const table: Readonly<Record<ClaimRefusal['kind'], MomentKind | undefined>> = {
    held: 'lease',
    not_due: 'due',
    backing_off: 'due',
    cooled_down: 'cool_down',
    budget_exhausted: undefined,
  };

  it.each(Object.entries(table))('%s is the end of: %s', (kind, moment) => {
    const { clock, watches } = watching();
    watches.seeRefusal('shop', { kind: kind as ClaimRefusal['kind'], retryInMs: 1_000, mark: 'named' });
    clock.freeze(1_249);
    expect(kinds.filter((each) => watches.over('shop', each) !== undefined)).toEqual([]);
    clock.freeze(1);
    expect(kinds.filter((each) => watches.over('shop', each) === 'named')).toEqual(
      moment === undefined ? [] : [moment],
    );
  });

  it('is not watched without a mark, nor does it end the watch of what was there', () => {
    const { clock, watches } = watching();
    watches.see('shop', 'lease', { mark: 'first', inMs: 0 });
    watches.seeRefusal('shop', { kind: 'held', retryInMs: 1_000 });
    watches.seeRefusal('stall', { kind: 'held', retryInMs: 0 });
    clock.freeze(250);
    expect([watches.over('shop', 'lease'), watches.over('stall', 'lease')]).toEqual(['first', undefined]);
  });
});
