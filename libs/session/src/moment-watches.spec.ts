import { FakeClock } from '#libs/testing';
import { MomentWatches } from './moment-watches.js';

function watching(): { clock: FakeClock; watches: MomentWatches } {
  const clock = new FakeClock();
  return { clock, watches: new MomentWatches(clock) };
}

describe('the moments of the store that a replica watches', () => {
  it('are over when they stood unchanged for as long as they had to run, and a quarter of a second', async () => {
    const { clock, watches } = watching();
    await clock.advance(5_000);
    watches.see('shop', 'lease', { mark: 'a', inMs: 1_000 });
    await clock.advance(1_249);
    expect(watches.over('shop', 'lease')).toBeUndefined();
    await clock.advance(1);
    expect(watches.over('shop', 'lease')).toBe('a');
  });

  it('keep the end of their first sight when they are seen again', async () => {
    const { clock, watches } = watching();
    watches.see('shop', 'due', { mark: 'a', inMs: 1_000 });
    await clock.advance(1_000);
    watches.see('shop', 'due', { mark: 'a', inMs: 3_600_000 });
    await clock.advance(250);
    expect(watches.over('shop', 'due')).toBe('a');
  });

  it('begin anew with another mark', async () => {
    const { clock, watches } = watching();
    watches.see('shop', 'due', { mark: 'a', inMs: 1_000 });
    await clock.advance(1_250);
    watches.see('shop', 'due', { mark: 'b', inMs: 1_000 });
    expect(watches.over('shop', 'due')).toBeUndefined();
    await clock.advance(1_250);
    expect(watches.over('shop', 'due')).toBe('b');
  });

  it.each([
    ['held', 'lease'],
    ['not_due', 'due'],
    ['backing_off', 'due'],
    ['cooled_down', 'cool_down'],
    ['budget_exhausted', undefined],
  ] as const)('are named by a refusal: %s is the end of %s', async (kind, expected) => {
    const { clock, watches } = watching();
    watches.seeRefusal('shop', { kind, mark: 'a', retryInMs: 100 });
    await clock.advance(350);
    for (const moment of ['lease', 'due', 'cool_down'] as const) {
      expect(watches.over('shop', moment)).toBe(moment === expected ? 'a' : undefined);
    }
  });

  it('are neither known from a refusal that names none, nor forgotten for it', async () => {
    const { clock, watches } = watching();
    watches.see('shop', 'lease', { mark: 'first', inMs: 0 });
    watches.seeRefusal('shop', { kind: 'held', retryInMs: 1_000 });
    watches.seeRefusal('stall', { kind: 'held', retryInMs: 0 });
    await clock.advance(250);
    expect([watches.over('shop', 'lease'), watches.over('stall', 'lease')]).toEqual(['first', undefined]);
  });

  it('are forgotten by their kind, or all of a merchant, and never those of another', async () => {
    const { clock, watches } = watching();
    const kinds = ['lease', 'due', 'cool_down'] as const;
    for (const merchant of ['shop', 'kiosk']) {
      for (const kind of kinds) watches.see(merchant, kind, { mark: `${merchant}:${kind}`, inMs: 0 });
    }
    await clock.advance(250);
    const over = (merchant: string): unknown[] => kinds.map((kind) => watches.over(merchant, kind));
    watches.forget('shop', 'due');
    expect(over('shop')).toEqual(['shop:lease', undefined, 'shop:cool_down']);
    watches.forget('shop');
    expect(over('shop')).toEqual([undefined, undefined, undefined]);
    expect(over('kiosk')).toEqual(['kiosk:lease', 'kiosk:due', 'kiosk:cool_down']);
  });
});
