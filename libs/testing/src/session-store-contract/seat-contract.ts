import type { Bench } from './store-under-test.js';

const SEATS = 1_024;

export function describeSeats(bench: Bench): void {
  describe('seats', () => {
    it('are the same for the same owner, whichever way it asks', async () => {
      const [store, other] = bench().replicas;
      const seat = await store.seat('replica-1');
      await other.seat('replica-2');
      expect(await other.seat('replica-1')).toBe(seat);
      expect(await store.seat('replica-1')).toBe(seat);
    });

    it('are numbers from 0 to 1023, and no two owners have one', async () => {
      const [store, other] = bench().replicas;
      const owners = Array.from({ length: 60 }, (_, index) => `replica-${index}`);
      const seats = await Promise.all(owners.map((owner, index) => (index % 2 === 0 ? store : other).seat(owner)));
      expect(new Set(seats).size).toBe(owners.length);
      expect(seats.filter((seat) => !Number.isInteger(seat) || seat < 0 || seat >= SEATS)).toEqual([]);
    });

    it('are no more than 1024: the one that has been unused longest is taken over', async () => {
      const { replicas, tick } = bench();
      const [store] = replicas;
      const idle = await store.seat('idle');
      await tick();
      const others = Array.from({ length: SEATS - 1 }, (_, index) => `replica-${index}`);
      const seats = new Set([idle, ...(await Promise.all(others.map((owner) => store.seat(owner))))]);
      expect(seats.size).toBe(SEATS);
      expect(await store.seat('late')).toBe(idle);
      expect(seats.has(await store.seat('idle'))).toBe(true);
    });

    it('are kept by an owner that asks again', async () => {
      const { replicas, tick } = bench();
      const [store] = replicas;
      const first = await store.seat('first');
      await tick();
      const second = await store.seat('second');
      const others = Array.from({ length: SEATS - 2 }, (_, index) => `replica-${index}`);
      await tick();
      await Promise.all(others.map((owner) => store.seat(owner)));
      await tick();
      await store.seat('first');
      expect(await store.seat('late')).toBe(second);
      expect(await store.seat('first')).toBe(first);
    });
  });
}
