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
    expect(held.facts('shop').leftMs).toBe(10_000);
  });

  it('are over in the millisecond of their expiry: the wall clock may be behind the truth by as much', () => {
    const { clock, held } = holding();
    clock.freeze(899_998);
    expect(held.facts('shop').leftMs).toBe(1);
    clock.freeze(1);
    expect(held.facts('shop').leftMs).toBe(0);
  });

  it('expire at once when the wall clock is set past their expiry: the safe side', () => {
    const { clock, held } = holding();
    clock.jumpWall(3_600_000);
    expect(held.facts('shop').leftMs).toBeLessThan(0);
  });

  it('know how old they were when they came, whatever the local wall clock says', () => {
    const clock = new FakeClock('2025-12-31T23:00:00.000Z');
    const held = new HeldSessions(clock);
    held.adopt(aSession(), 600_000);
    expect(held.facts('shop').leftMs).toBe(300_000);
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

  it('do not count a generation as replaceable that was only announced', () => {
    const { held } = holding();
    held.noteSeen('shop', 20);
    expect(held.seen('shop')).toBe(20);
    expect(held.replaceable('shop')).toBe(10);
  });

  it('count a generation that nobody can open as replaceable', () => {
    const { held } = holding();
    expect(held.noteUnusable('shop', 20)).toBe(true);
    expect(held.noteUnusable('shop', 20)).toBe(false);
    expect(held.replaceable('shop')).toBe(20);
  });
});
