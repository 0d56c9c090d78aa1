import { plusMs } from '#libs/clock';
import { aRecordedFailure, aSession, effectIn, MINUTE, effectNames, Play, served } from '#libs/testing';
import type { Effect } from './life.js';
import { generationOf, heldFrom, type Merchant, type Now } from './merchant.js';

describe('what the store has', () => {
  it('is adopted if it is newer, and sets nothing back if it is older', () => {
    const play = new Play(served());
    play.read({ stored: { kind: 'session', session: aSession({ generation: 11 }), ageMs: 0 } });
    expect([generationOf(play.merchant), play.merchant.floor]).toEqual([11, 11]);
    const effects = play.read({ stored: { kind: 'session', session: aSession({ generation: 9 }), ageMs: 0 } });
    expect([generationOf(play.merchant), effectNames(effects)]).toEqual([11, ['offer']]);
    play.read({ stored: { kind: 'session', session: aSession({ generation: 11 }), ageMs: 0 } });
    const said = { event: 'session_adopted', generation: 11, source: 'store', serverKeyChanged: false };
    expect(play.told).toEqual([expect.objectContaining(said)]);
  });

  it('is told to have another key where it has', () => {
    const play = new Play(served());
    const { serverPublic } = aSession();
    for (const [index, changed] of [{ x: 'other' }, { y: 'other' }].entries()) {
      const session = aSession({ generation: 11 + index, serverPublic: { ...serverPublic, ...changed } });
      play.read({ stored: { kind: 'session', session, ageMs: 0 } });
    }
    expect(play.told).toMatchObject([{ serverKeyChanged: true }, { serverKeyChanged: true }]);
  });

  it('clears what stood in the way, and what was said of the session before', () => {
    const play = new Play(served());
    play.wish('demand');
    play.feed({ on: 'claimed', answer: { kind: 'budget_exhausted', retryInMs: MINUTE } });
    play.feed({ on: 'unreplaced', generation: 10, result: { kind: 'budget_exhausted', retryInMs: MINUTE } });
    play.read({ stored: { kind: 'session', session: aSession({ generation: 11 }), ageMs: 0 } });
    const { blocked, report, failure } = play.merchant;
    expect({ blocked, report, failure }).toEqual({ blocked: {}, report: undefined, failure: undefined });
  });

  it('is renewed if it is due when it is looked at as planned, whatever the list says', () => {
    const play = new Play(served());
    expect(play.read({ stored: { kind: 'unchanged', ageMs: 0 } })).toEqual([]);
    play.pass(play.merchant.lookAtMs);
    expect(effectNames(play.feed({ on: 'wake' }))).toEqual(['read']);
    expect(effectNames(play.read({ stored: { kind: 'unchanged', ageMs: 0 } }))).toEqual(['enter']);
    expect(effectIn(play.feed({ on: 'admitted' }), 'claim').request.mode).toBe('when_due');
    const none = new Play({ lookAtMs: 0 });
    none.feed({ on: 'wake' });
    none.read({ dueInMs: 0 });
    expect(effectIn(none.feed({ on: 'admitted' }), 'claim').request.mode).toBe('when_due');
  });

  it('is renewed once it is past its margin, though the store may not say that it is due', () => {
    const play = new Play({ ...served(), lookAtMs: 0 }).pass(14.7 * MINUTE);
    play.feed({ on: 'wake' });
    play.read({ stored: { kind: 'unchanged', ageMs: 0 } });
    expect(effectIn(play.feed({ on: 'admitted' }), 'claim').request.mode).toBe('when_wanted');
  });

  it('is counted by our own clock where that of its maker is wrong', () => {
    const near = new Play();
    near.now = { ...near.now, wall: plusMs(near.now.wall, 1_000) };
    near.read({ stored: { kind: 'session', session: aSession(), ageMs: 0 } });
    expect(near.merchant.held?.session).toEqual(aSession());
    const play = new Play();
    play.now = { ...play.now, wall: plusMs(play.now.wall, 60 * MINUTE) };
    const session = aSession();
    play.read({ stored: { kind: 'session', session, ageMs: MINUTE }, ageMs: MINUTE });
    const moved = Object.entries(play.merchant.held?.session ?? {}).filter(([name]) => /At$/.test(name));
    const byMs = 59 * MINUTE;
    const { createdAt, renewAt, mustRenewAt, expiresAt } = session;
    expect(Object.fromEntries(moved)).toEqual({
      createdAt: plusMs(createdAt, byMs),
      renewAt: plusMs(renewAt, byMs),
      mustRenewAt: plusMs(mustRenewAt, byMs),
      expiresAt: plusMs(expiresAt, byMs),
    });
  });

  it('is not renewed if a newer one is found when it is looked at', () => {
    const play = new Play(served());
    play.read({ stored: { kind: 'unchanged', ageMs: 0 } });
    play.pass(play.merchant.lookAtMs).feed({ on: 'wake' });
    const moments = { createdAt: play.now.wall, renewAt: plusMs(play.now.wall, MINUTE) };
    const session = aSession({ generation: 11, ...moments, expiresAt: plusMs(play.now.wall, 2 * MINUTE) });
    expect(play.read({ stored: { kind: 'session', session, ageMs: 0 } })).toEqual([]);
  });

  it('is asked for at once when something newer is heard of, soon when it is not known what, and not for the rest', () => {
    const play = new Play(served());
    expect(play.feed({ on: 'heard', generation: 11 })).toEqual([{ do: 'read', isUrgent: true }]);
    expect(play.feed({ on: 'heard' })).toEqual([{ do: 'read', isUrgent: false }]);
    expect(play.feed({ on: 'heard', generation: 10 })).toEqual([]);
  });

  it('is read when the configuration changes, and replaced at once unless it is well, or the replica stops', () => {
    const effectsOf = (merchant: Partial<Merchant>, now: Partial<Now> = {}): readonly Effect[] => {
      const play = new Play(merchant);
      play.now = { ...play.now, ...now };
      return play.feed({ on: 'configured' });
    };
    expect(effectsOf(served())).toEqual([{ do: 'read', isUrgent: true }]);
    expect(effectNames(effectsOf({}))).toEqual(['read', 'enter']);
    expect(effectNames(effectsOf({ ...served(), failure: aRecordedFailure() }))).toEqual(['read', 'enter']);
    expect(effectNames(effectsOf({}, { isStopping: true }))).toEqual(['read']);
  });

  it('is looked at less and less often once it is due, and at its margin whatever comes', () => {
    const play = new Play(served()).pass(12 * MINUTE);
    const nextAtMs = (): number => {
      play.feed({ on: 'wake' });
      play.merchant = { ...play.merchant, isLookedAt: false };
      play.read({ stored: { kind: 'unchanged', ageMs: 0 } });
      return play.merchant.lookAtMs;
    };
    const waits = Array.from({ length: 7 }, () => {
      const waitMs = nextAtMs() - play.now.ms;
      play.pass(waitMs);
      return waitMs;
    });
    expect(waits).toEqual([1_800, 3_600, 7_200, 13_500, 13_500, 13_500, 13_500]);
    play.pass(14.4 * MINUTE - play.now.ms);
    // 870 s after its beginning, less the millisecond that is not known.
    expect(nextAtMs()).toBe(870_000 - 1);
    play.pass(play.merchant.lookAtMs - play.now.ms);
    expect(nextAtMs()).toBe(870_000 - 1 + 13_500);
  });

  it('is looked at when its moment has come, and no sooner', () => {
    const lookAtMs = (merchant: Partial<Merchant>, state: Parameters<Play['read']>[0]): number => {
      const play = new Play(merchant);
      play.read(state);
      const { lookAtMs: atMs } = play.merchant;
      expect(play.pass(atMs - 1).feed({ on: 'wake' })).toEqual([]);
      expect(play.pass(1).feed({ on: 'wake' })).toEqual([{ do: 'read', isUrgent: true }]);
      return atMs;
    };
    // Two seconds after the end of a lease or of a back-off, every 15 s with a tenth of chance, or after its renewal.
    expect(lookAtMs({}, { dueInMs: 3_000 })).toBe(5_000);
    expect(lookAtMs({}, { dueInMs: MINUTE })).toBe(13_500);
    const over = { held: heldFrom(aSession(), -16 * MINUTE), isSaidEnded: true };
    expect(lookAtMs(over, { stored: { kind: 'unchanged', ageMs: 0 }, dueInMs: 3_000 })).toBe(5_000);
    expect(lookAtMs(served(), { stored: { kind: 'unchanged', ageMs: 0 } })).toBe(12 * MINUTE - 1 + 2_000);
    // Sooner for a session that has little time left by then.
    const short = heldFrom(aSession({ renewAt: plusMs(aSession().expiresAt, -2_000) }), 0);
    expect(lookAtMs({ held: short }, { stored: { kind: 'unchanged', ageMs: 0 } })).toBe(15 * MINUTE - 2_001 + 500);
  });

  it('is told once to open with none of our keys, and is what a renewal has to exceed', () => {
    const play = new Play(served());
    expect(play.read({ stored: { kind: 'unopenable', generation: 11 } })).toEqual([]);
    expect(play.told.map(({ event }) => event)).toEqual(['record_unopenable']);
    play.read({ stored: { kind: 'unopenable', generation: 11 } });
    expect(play.told).toHaveLength(1);
    play.read({ stored: { kind: 'unopenable', generation: 12 } });
    expect(play.told).toHaveLength(2);
    expect(effectIn(play.wish('operator'), 'claim').request.newerThan).toBe(12);
  });
});

describe('what people are told', () => {
  it('is told once: that a session has ended, that there is one again', () => {
    const play = new Play(served());
    const said = (effects: readonly Effect[]): string[] =>
      effects.flatMap((one) => (one.do === 'say' ? [one.what] : []));
    const wakes = [12, 1, 3, 1].map((minutes) => said(play.pass(minutes * MINUTE).feed({ on: 'wake' })));
    expect(wakes).toEqual([[], [], ['service_ended'], []]);
    const dead = aSession({ generation: 11 });
    expect(said(play.read({ stored: { kind: 'session', session: dead, ageMs: 0 }, ageMs: 16 * MINUTE }))).toEqual([]);
    const { wall } = play.now;
    const moments = { createdAt: wall, renewAt: plusMs(wall, 720_000), expiresAt: plusMs(wall, 900_000) };
    const session = aSession({ generation: 12, ...moments });
    expect(said(play.read({ stored: { kind: 'session', session, ageMs: 0 } }))).toEqual(['service_resumed']);
    const over = aSession({ generation: 10 });
    const late = new Play();
    expect(said(late.read({ stored: { kind: 'session', session: over, ageMs: 0 }, ageMs: 20 * MINUTE }))).toEqual([
      'service_ended',
    ]);
    const removed = new Play(served());
    removed.now = { ...removed.now, settings: undefined };
    expect(said(removed.pass(20 * MINUTE).feed({ on: 'wake' }))).toEqual([]);
    expect(removed.merchant.wakeAtMs).toBe(Infinity);
  });

  it('is nothing of a machine that slept without a session', () => {
    const play = new Play();
    expect([play.feed({ on: 'slept', forMs: MINUTE }), play.merchant.held]).toEqual([[], undefined]);
  });

  it('is that a session is older by the time for which the machine slept', () => {
    const play = new Play(served()).pass(MINUTE);
    play.now = { ...play.now, wall: plusMs(play.now.wall, 14 * MINUTE) };
    expect(effectNames(play.feed({ on: 'slept', forMs: 14 * MINUTE }))).toEqual(['say']);
    expect(play.merchant.held).toMatchObject({
      answeredAtMs: -14 * MINUTE,
      session: { createdAt: aSession().createdAt },
    });
  });
});
