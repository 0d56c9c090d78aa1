import fc from 'fast-check';
import { DueQueue } from './due-queue.js';
import type { StoreMoment } from './store-moment.js';

const at = (endsAtMs: number): StoreMoment => ({ mark: `due:${endsAtMs}`, endsAtMs, lengthMs: endsAtMs });

describe('DueQueue', () => {
  const move = fc.record({ merchant: fc.constantFrom('a', 'b', 'c', 'd', 'e'), dueAtMs: fc.nat(20) });

  it('lists what is due as a sorted list of all merchants would', () => {
    const limit = fc.integer({ min: 1, max: 6 });
    fc.assert(
      fc.property(fc.array(move), fc.nat(20), limit, (moves, nowMs, most) => {
        const queue = new DueQueue();
        const all = new Map<string, number>();
        for (const { merchant, dueAtMs } of moves) {
          queue.set(merchant, at(dueAtMs));
          // Deleted first, so that the map keeps the order in which the moments were set.
          all.delete(merchant);
          all.set(merchant, dueAtMs);
        }
        const sorted = [...all].sort(([, a], [, b]) => a - b);
        const due = sorted.filter(([, dueAtMs]) => dueAtMs <= nowMs).slice(0, most);
        const nextAtMs = sorted[due.length]?.[1];
        const next = nextAtMs === undefined ? undefined : at(nextAtMs);
        const expected = { merchants: due.map(([merchant]) => merchant), next };
        expect(queue.list(nowMs, most)).toEqual(expected);
        expect(queue.list(nowMs, most)).toEqual(expected);
      }),
    );
  });

  it('knows the moment of each merchant, and of no other', () => {
    const queue = new DueQueue();
    queue.set('shop', at(5));
    queue.set('shop', at(3));
    expect(queue.momentOf('shop')).toEqual(at(3));
    expect(queue.momentOf('other')).toBeUndefined();
  });

  it('does not keep the moments that were moved away from', () => {
    const queue = new DueQueue();
    for (let round = 0; round < 10_000; round += 1) queue.set('shop', at(1_000_000 - round));
    expect(queue.list(2_000_000, 100).merchants).toEqual(['shop']);
  });
});
