import { FakeClock } from '#libs/testing';
import fc from 'fast-check';
import { WakeHeap } from './wake-heap.js';

interface Sleeper {
  readonly name: string;
  atMs: number;
}

function heap() {
  const clock = new FakeClock();
  const woken: (readonly [atMs: number, names: readonly string[]])[] = [];
  const wakes = new WakeHeap<Sleeper>(
    clock,
    ({ atMs }) => atMs,
    (items) => woken.push([clock.monotonicMs() - startMs, items.map(({ name }) => name)]),
  );
  const startMs = clock.monotonicMs();
  const plan = (name: string, inMs: number): Sleeper => {
    const sleeper = { name, atMs: startMs + inMs };
    wakes.plan(sleeper);
    return sleeper;
  };
  return { clock, wakes, woken, plan };
}

describe('one timer for the moments of many', () => {
  it('wakes each at its moment, rounded up to a quarter of a second, and those that lie close together at once', async () => {
    const { clock, woken, plan } = heap();
    for (const [name, inMs] of [
      ['c', 900],
      ['a', 10],
      ['b', 240],
    ] as const)
      plan(name, inMs);
    await clock.advance(2_000);
    expect(woken.map(([, names]) => names)).toEqual([['a', 'b'], ['c']]);
  });

  it('passes over a moment that is no longer planned', async () => {
    const { clock, wakes, woken, plan } = heap();
    const moved = plan('moved', 300);
    moved.atMs += 1_000;
    wakes.plan(moved);
    await clock.advance(1_000);
    expect(woken).toEqual([]);
    await clock.advance(1_000);
    expect(woken).toHaveLength(1);
  });

  it('wakes nobody, and keeps no timer, once it is closed', async () => {
    const { clock, wakes, woken, plan } = heap();
    plan('late', 300);
    wakes.close();
    plan('later', 400);
    await clock.advance(1_000);
    expect([woken, clock.pendingTasks]).toEqual([[], 0]);
  });

  it('wakes everybody once, in the order of their moments, whatever the order in which they were planned', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(5_000), { maxLength: 50 }), async (moments) => {
        const { clock, woken, plan } = heap();
        moments.forEach((inMs, index) => plan(String(index), inMs));
        await clock.advance(6_000);
        const order = woken.flatMap(([, names]) => names).map((name) => Math.ceil((moments[Number(name)] ?? 0) / 250));
        expect(order).toEqual([...order].sort((left, right) => left - right));
        expect(order).toHaveLength(moments.length);
      }),
      { numRuns: 30 },
    );
  });
});
