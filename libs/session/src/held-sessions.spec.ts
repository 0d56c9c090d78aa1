import { FakeClock, aSession } from '#libs/testing';
import { plusMs } from '#libs/clock';
import { HeldSessions } from './held-sessions.js';

function holding(overrides: Parameters<typeof aSession>[0] = {}, ageMs = 0): { clock: FakeClock; held: HeldSessions } {
  const clock = new FakeClock();
  const held = new HeldSessions(clock);
  held.adopt(aSession({ generation: 10, ...overrides }), ageMs);
  return { clock, held };
}

describe('the sessions in memory', () => {
  it('are replaced by a higher generation only, even if it expires sooner', () => {
    const { held } = holding();
    const session = aSession();
    expect(held.adopt(aSession({ generation: 10, authToken: 'same' }), 0)).toBe(false);
    expect(held.adopt(aSession({ generation: 9 }), 0)).toBe(false);
    expect(held.adopt(aSession({ generation: 11, expiresAt: plusMs(session.createdAt, 1_000) }), 0)).toBe(true);
    expect(held.generationOf('shop')).toBe(11);
  });

  it('age although the wall clock is set back', () => {
    const { clock, held } = holding();
    clock.freeze(890_000);
    clock.jumpWall(-3_600_000);
    expect(held.facts('shop').leftMs).toBe(9_999);
  });

  it('are over in the millisecond of their expiry: their moments are whole ones', () => {
    const { clock, held } = holding();
    clock.freeze(899_998);
    expect(held.facts('shop').leftMs).toBe(1);
    clock.freeze(1);
    expect(held.facts('shop').leftMs).toBe(0);
  });

  it('look over when the wall clock goes ahead, until the store has told why it did', () => {
    const { clock, held } = holding();
    held.reconcile(held.storeClock.note(clock.now(), clock.monotonicMs()));
    clock.jumpWall(3_600_000);
    expect(held.facts('shop').leftMs).toBeLessThan(0);
    held.reconcile(held.storeClock.note(plusMs(clock.now(), -3_600_000), clock.monotonicMs()));
    expect(held.facts('shop').leftMs).toBe(899_999);
    expect(held.get('shop')?.expiresAt).toBe(plusMs(clock.now(), 900_000));
  });

  it('have aged by the time for which the machine was suspended, as the store shows it', () => {
    const { clock, held } = holding();
    held.reconcile(held.storeClock.note(clock.now(), clock.monotonicMs()));
    clock.jumpWall(600_000);
    held.reconcile(held.storeClock.note(clock.now(), clock.monotonicMs()));
    expect(held.facts('shop').leftMs).toBe(299_999);
    expect(held.get('shop')?.expiresAt).toBe(aSession().expiresAt);
  });

  it('are told in the time of this replica, when their maker and it are hours apart', () => {
    const clock = new FakeClock('2025-12-31T23:00:00.000Z');
    const held = new HeldSessions(clock);
    held.adopt(aSession(), 600_000);
    expect(held.facts('shop').leftMs).toBe(299_999);
    expect(held.get('shop')?.expiresAt).toBe(plusMs(clock.now(), 300_000));
  });

  it('tell those who wait for a newer one, until they end their subscription', () => {
    const { held } = holding();
    const heard: number[] = [];
    const end = held.onNewer('shop', (session) => heard.push(session.generation));
    held.adopt(aSession({ generation: 11 }), 0);
    end();
    held.adopt(aSession({ generation: 12 }), 0);
    expect(heard).toEqual([11]);
  });

  it('have a floor at the highest fence that was called under, whether a session came of it or not', () => {
    const { held } = holding();
    held.noteCalled('shop', 20);
    held.noteCalled('shop', 12);
    expect([held.floor('shop'), held.seen('shop'), held.known('shop')]).toEqual([20, 10, 10]);
  });

  it('count a generation that cannot be opened as known', () => {
    const { held } = holding();
    expect(held.noteUnusable('shop', 20)).toBe(true);
    expect(held.noteUnusable('shop', 20)).toBe(false);
    expect(held.known('shop')).toBe(20);
  });
});
