import { plusMs } from '#libs/clock';
import { aSession, FakeClock } from '#libs/testing';
import { HeldSessions } from './held-sessions.js';

function holding(): { clock: FakeClock; held: HeldSessions } {
  const clock = new FakeClock();
  return { clock, held: new HeldSessions(clock) };
}

describe('what is known of a merchant', () => {
  it('is nothing at first, and no session', () => {
    const { held } = holding();
    expect(held.get('shop')).toBeUndefined();
    expect([held.generationOf('shop'), held.seen('shop'), held.floor('shop'), held.known('shop')]).toEqual([
      0, 0, 0, 0,
    ]);
    expect(held.ageMs('shop')).toBe(0);
    expect(held.facts('shop')).toEqual({ held: false, leftMs: 0, freshMs: 0 });
    expect(held.untilRenewalMs('shop')).toBe(0);
  });

  it('tells an unopenable generation once, until it is forgotten, and as long as it is the newest', () => {
    const { held } = holding();
    expect(held.noteUnusable('shop', 20)).toBe(true);
    expect(held.noteUnusable('shop', 20)).toBe(false);
    expect(held.noteUnusable('shop', 19)).toBe(false);
    expect(held.known('shop')).toBe(20);
    expect(held.noteUnusable('shop', 21)).toBe(true);
    held.forgetUnusable('shop');
    expect(held.known('shop')).toBe(0);
    expect(held.noteUnusable('shop', 21)).toBe(true);
  });

  it('is a newer generation that is unopened until one as new is held, and never an older one', () => {
    const { held } = holding();
    expect(held.unopened('shop')).toBeUndefined();
    held.adopt(aSession({ generation: 20 }), 0);
    held.noteUnusable('shop', 20);
    expect(held.unopened('shop')).toBeUndefined();
    held.noteUnusable('shop', 21);
    expect(held.unopened('shop')).toBe(21);
    held.adopt(aSession({ generation: 21 }), 0);
    expect(held.unopened('shop')).toBeUndefined();
  });

  it('outlives the session as a floor, and what was called for counts as well', () => {
    const { held } = holding();
    held.adopt(aSession({ generation: 20 }), 0);
    held.noteCalled('shop', 30);
    held.noteCalled('shop', 25);
    held.noteUnusable('shop', 40);
    held.drop('shop');
    expect(held.get('shop')).toBeUndefined();
    expect([held.seen('shop'), held.floor('shop'), held.known('shop')]).toEqual([20, 30, 0]);
  });

  it('is told to whoever listens to any merchant, until they end it', () => {
    const { held } = holding();
    const heard: number[] = [];
    const end = held.onAnyNewer(({ generation }) => heard.push(generation));
    held.adopt(aSession({ generation: 20 }), 0);
    held.adopt(aSession({ generation: 20 }), 0);
    end();
    held.adopt(aSession({ generation: 21 }), 0);
    expect(heard).toEqual([20]);
  });
});

describe('the time that a session has', () => {
  it('is counted to its margin, to its renewal and to its end, from the answer on', () => {
    const { clock, held } = holding();
    held.adopt(aSession(), 1_000);
    clock.freeze(9_000);
    expect(held.ageMs('shop')).toBe(10_000);
    expect(held.facts('shop')).toEqual({ held: true, leftMs: 889_999, freshMs: 859_999 });
    expect(held.untilRenewalMs('shop')).toBe(709_999);
    expect(held.leftOf(aSession())).toEqual({ expiresInMs: 889_999, renewInMs: 709_999 });
    held.adopt(aSession({ generation: aSession().generation + 1 }), 0);
    expect(held.leftOf(aSession())).toEqual({ expiresInMs: 0, renewInMs: 0 });
  });

  it.each([
    [2_000, false],
    [-2_000, false],
    [2_001, true],
    [-2_001, true],
  ])('is moved to our clock when its maker was off by more than two seconds: by %d ms, %s', (byMs, isMoved) => {
    const { clock, held } = holding();
    const session = aSession();
    const moved = Object.fromEntries(
      (['createdAt', 'expiresAt', 'renewAt', 'mustRenewAt'] as const).map((name) => [
        name,
        plusMs(session[name], byMs),
      ]),
    );
    held.adopt({ ...session, ...moved }, 0);
    expect(held.get('shop')).toEqual(isMoved ? session : { ...session, ...moved });
    expect(clock.now()).toBe(session.createdAt);
  });

  it('goes on as it was while the clocks agree', () => {
    const { clock, held } = holding();
    held.adopt(aSession(), 0);
    const before = held.get('shop');
    clock.jumpWall(3_600_000);
    held.reconcile({ kind: 'agreed' });
    expect(held.get('shop')).toBe(before);
  });

  it('moves to a wall clock that was set, and is no shorter for it', () => {
    const { clock, held } = holding();
    held.adopt(aSession(), 0);
    clock.freeze(10_000);
    clock.jumpWall(3_600_000);
    held.reconcile({ kind: 'wall_set' });
    expect(held.ageMs('shop')).toBe(10_000);
    expect(held.get('shop')?.expiresAt).toBe(plusMs(aSession().expiresAt, 3_600_000));
  });

  it('is shorter by the time for which the machine was suspended', () => {
    const { clock, held } = holding();
    held.adopt(aSession(), 0);
    clock.freeze(10_000);
    clock.jumpWall(60_000);
    held.reconcile({ kind: 'suspended', forMs: 60_000 });
    expect(held.ageMs('shop')).toBe(70_000);
    expect(held.get('shop')?.expiresAt).toBe(aSession().expiresAt);
  });
});

function holdingOne(): { clock: FakeClock; held: HeldSessions } {
  const clock = new FakeClock();
  const held = new HeldSessions(clock);
  held.adopt(aSession({ generation: 10 }), 0);
  return { clock, held };
}

describe('a session in memory', () => {
  it('is replaced by a higher generation only, even if it expires sooner', () => {
    const { held } = holdingOne();
    const session = aSession();
    expect(held.adopt(aSession({ generation: 10, authToken: 'same' }), 0)).toBe(false);
    expect(held.adopt(aSession({ generation: 9 }), 0)).toBe(false);
    expect(held.adopt(aSession({ generation: 11, expiresAt: plusMs(session.createdAt, 1_000) }), 0)).toBe(true);
    expect(held.generationOf('shop')).toBe(11);
  });

  it('looks over when the wall clock goes ahead, until the store has told why it did', () => {
    const { clock, held } = holdingOne();
    held.reconcile(held.storeClock.note(clock.now(), clock.monotonicMs()));
    clock.jumpWall(3_600_000);
    expect(held.facts('shop').leftMs).toBeLessThan(0);
    held.reconcile(held.storeClock.note(plusMs(clock.now(), -3_600_000), clock.monotonicMs()));
    expect(held.facts('shop').leftMs).toBe(899_999);
    expect(held.get('shop')?.expiresAt).toBe(plusMs(clock.now(), 900_000));
  });

  it('is told to those who wait for a newer one, until they end their subscription', () => {
    const { held } = holdingOne();
    const heard: number[] = [];
    const end = held.onNewer('shop', (session) => heard.push(session.generation));
    held.adopt(aSession({ generation: 11 }), 0);
    end();
    held.adopt(aSession({ generation: 12 }), 0);
    expect(heard).toEqual([11]);
  });
});
