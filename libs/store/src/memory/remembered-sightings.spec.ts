import { MAX_SIGHTINGS, RememberedSightings } from './remembered-sightings.js';

describe('sightings in memory', () => {
  const seen = (sightings: RememberedSightings, index: number, nowMs: number): boolean =>
    sightings.firstSeen({ merchant: 'shop', names: [`name-${index}`], forMs: 1_000 }, nowMs);

  it('are bounded in number: the oldest is forgotten first', () => {
    const sightings = new RememberedSightings();
    for (let index = 0; index <= MAX_SIGHTINGS; index += 1) seen(sightings, index, 0);
    expect(seen(sightings, 1, 0)).toBe(false);
    expect(seen(sightings, 0, 0)).toBe(true);
  });

  it('are remembered from the first time on, however often they come again', () => {
    const sightings = new RememberedSightings();
    expect([0, 600, 999, 1_000].map((nowMs) => seen(sightings, 1, nowMs))).toEqual([true, false, false, true]);
  });
});
