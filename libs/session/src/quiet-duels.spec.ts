import { FakeClock } from '#libs/testing';
import type { SessionEvent } from './ports/session-events.js';
import { quietCause } from './budget-cause.js';
import { QUIET_IS_TOLD_FOR_MS, QuietDuels } from './quiet-duels.js';

type Result = Extract<SessionEvent, { event: 'session_rejected' }>['result'];

class Rig {
  readonly clock = new FakeClock();
  readonly passedOn: SessionEvent[] = [];
  readonly duels = new QuietDuels({ clock: this.clock, events: { emit: (event) => void this.passedOn.push(event) } });

  duel(isPresent: boolean, quietMs = 0): void {
    this.duels.emit({ event: 'foreign_authorizer', merchant: 'shop', generation: 4, isPresent, quietMs });
  }

  reported(result: Result): void {
    this.duels.emit({ event: 'session_rejected', merchant: 'shop', generation: 4, isFirst: true, result });
  }

  get quietMs(): number | undefined {
    return this.duels.quietMs('shop');
  }
}

describe('a duel that has gone quiet', () => {
  it('is remembered for an hour, with how long nobody has reported anything, and with nothing while it lasts', async () => {
    const rig = new Rig();
    expect(rig.quietMs).toBeUndefined();
    rig.duel(true);
    expect(rig.quietMs).toBeUndefined();
    rig.duel(false, 180_000);
    await rig.clock.advance(QUIET_IS_TOLD_FOR_MS - 1);
    expect(rig.quietMs).toBe(QUIET_IS_TOLD_FOR_MS - 1 + 180_000);
    await rig.clock.advance(1);
    expect([rig.quietMs, rig.duels.createdUntil('shop')]).toEqual([undefined, undefined]);
  });

  it('is forgotten when it begins again', () => {
    const rig = new Rig();
    rig.duel(false);
    rig.duel(true);
    expect(rig.quietMs).toBeUndefined();
  });

  it('is not quiet while dead sessions are reported, and late reports of old ones do not count', async () => {
    const rig = new Rig();
    rig.reported('cooled_down');
    expect(rig.quietMs).toBeUndefined();
    rig.duel(false, 60_000);
    rig.reported('already_newer');
    expect(rig.quietMs).toBe(60_000);
    await rig.clock.advance(QUIET_IS_TOLD_FOR_MS - 1);
    const createdUntil = rig.duels.createdUntil('shop');
    expect(createdUntil).toBe(rig.clock.now() - 60_000 - QUIET_IS_TOLD_FOR_MS + 1);
    rig.reported('renewed');
    expect(rig.quietMs).toBe(0);
    expect(rig.duels.createdUntil('shop')).toBe(createdUntil);
    await rig.clock.advance(QUIET_IS_TOLD_FOR_MS - 1);
    expect(rig.quietMs).toBe(QUIET_IS_TOLD_FOR_MS - 1);
  });

  it('is forgotten with its merchant', () => {
    const rig = new Rig();
    rig.duel(false);
    expect(rig.quietMs).toBe(0);
    rig.duels.forget('shop');
    expect(rig.quietMs).toBeUndefined();
  });

  it('passes on all that it is told', () => {
    const rig = new Rig();
    rig.duel(true);
    rig.reported('renewed');
    expect(rig.passedOn.map(({ event }) => event)).toEqual(['foreign_authorizer', 'session_rejected']);
  });

  it('is told as what nobody knows', () => {
    expect(quietCause(180_000)).toEqual({
      text: 'no consumer has reported a dead session to this replica for 3 min; somebody else may still create sessions',
      runbook: 'foreign-authorizer',
    });
    for (const quietMs of [0, 1_999])
      expect(quietCause(quietMs).text).toBe(
        'a consumer has just reported a dead session to this replica; somebody else may still create sessions',
      );
    expect(quietCause(2_000).text).toMatch(/ to this replica for 2 s;/);
  });
});
