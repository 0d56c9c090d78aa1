import { FakeClock } from '#libs/testing';
import fc from 'fast-check';
import { WakeTimer } from './wake-timer.js';

interface Sleeper {
  readonly name: string;
  atMs: number;
}

function timer() {
  const clock = new FakeClock();
  const woken: (readonly [atMs: number, names: string[]])[] = [];
  const sleepers: Sleeper[] = [];
  const startMs = clock.monotonicMs();
  const wakes = new WakeTimer<Sleeper>(clock, {
    all: () => sleepers,
    atMsOf: ({ atMs }) => atMs,
    wake: (sleeper) => {
      const inMs = clock.monotonicMs() - startMs;
      if (woken.at(-1)?.[0] === inMs) woken.at(-1)?.[1].push(sleeper.name);
      else woken.push([inMs, [sleeper.name]]);
      sleeper.atMs = Infinity;
    },
  });
  const plan = (name: string, inMs: number): Sleeper => {
    const sleeper = { name, atMs: startMs + inMs };
    sleepers.push(sleeper);
    wakes.plan(sleeper.atMs);
    return sleeper;
  };
  return { clock, wakes, woken, plan };
}

describe('one timer for the moments of many', () => {
  it('wakes each at its moment, rounded up to a quarter of a second, and those that lie close together at once', async () => {
    const { clock, woken, plan } = timer();
    for (const [name, inMs] of [
      ['c', 900],
      ['a', 10],
      ['b', 240],
    ] as const)
      plan(name, inMs);
    await clock.advance(2_000);
    expect(woken.map(([, names]) => names)).toEqual([['a', 'b'], ['c']]);
  });

  it('does not ring again for one that stays where it was', async () => {
    const { clock, wakes, woken, plan } = timer();
    plan('stuck', 300).atMs = -Infinity;
    plan('later', 2_000);
    await clock.advance(600);
    wakes.plan(0);
    await clock.advance(2_500);
    expect(woken.map(([, names]) => names)).toEqual([['stuck'], ['later']]);
  });

  it('passes over a moment that is no longer planned', async () => {
    const { clock, wakes, woken, plan } = timer();
    const moved = plan('moved', 300);
    moved.atMs += 1_000;
    wakes.plan(moved.atMs);
    await clock.advance(1_000);
    expect(woken).toEqual([]);
    await clock.advance(1_000);
    expect(woken).toHaveLength(1);
  });

  it('wakes nobody, and keeps no timer, once it is closed', async () => {
    const { clock, wakes, woken, plan } = timer();
    plan('late', 300);
    wakes.close();
    plan('later', 400);
    await clock.advance(1_000);
    expect([woken, clock.pendingTasks]).toEqual([[], 0]);
  });

  it('wakes everybody once, in the order of their moments, whatever the order in which they were planned', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(5_000), { maxLength: 50 }), async (moments) => {
        const { clock, woken, plan } = timer();
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
