import { aSession, FakeClock } from '#libs/testing';
import { HeldSessions } from './held-sessions.js';
import { Settlements } from './settlements.js';

const MAX_CALL_MS = 5_000;

function contested(): { clock: FakeClock; held: HeldSessions; settlements: Settlements } {
  const clock = new FakeClock();
  const held = new HeldSessions(clock);
  return { clock, held, settlements: new Settlements(held, clock) };
}

const contest = (newest: number, answeredAtMs = 0) => ({ newest, answeredAtMs, maxCallMs: MAX_CALL_MS });

describe('two sessions of which nobody knows the last', () => {
  it('want a renewal that is newer than both, until there is one', () => {
    const { held, settlements } = contested();
    held.adopt(aSession({ generation: 20 }), 0);
    settlements.note('shop', contest(20));
    expect(settlements.open()).toEqual([['shop', 20]]);
    expect(settlements.open()).toEqual([['shop', 20]]);
    held.adopt(aSession({ generation: 21 }), 0);
    expect(settlements.open()).toEqual([]);
  });

  it('are judged when the newer one was read, or after fifteen seconds without it', async () => {
    const { clock, held, settlements } = contested();
    await clock.advance(1_000);
    held.adopt(aSession({ generation: 19 }), 0);
    settlements.note('shop', contest(20));
    expect(settlements.open()).toEqual([]);
    await clock.advance(15_000);
    expect(settlements.open()).toEqual([]);
    await clock.advance(1);
    expect(settlements.open()).toEqual([['shop', 20]]);
  });

  it('are in order when the newer one was asked for after the other had been answered', async () => {
    const { clock, held, settlements } = contested();
    await clock.advance(MAX_CALL_MS);
    held.adopt(aSession({ generation: 20 }), 0);
    settlements.note('shop', contest(20));
    expect(settlements.open()).toEqual([['shop', 20]]);
    await clock.advance(1);
    held.adopt(aSession({ merchant: 'kiosk', generation: 20 }), 0);
    settlements.note('kiosk', contest(20));
    expect(settlements.open()).toEqual([['shop', 20]]);
    held.adopt(aSession({ generation: 21 }), 0);
    settlements.note('kiosk', contest(20, 1));
    expect(settlements.open()).toEqual([['kiosk', 20]]);
  });

  it('are in order as soon as the call for the newer one certainly began after the answer to the other', async () => {
    const { clock, held, settlements } = contested();
    const WAY_MS = 250;
    await clock.advance(WAY_MS + 80);
    held.adopt(aSession({ generation: 20, callMs: 80 }), 0);
    settlements.note('shop', contest(20));
    expect(settlements.open()).toEqual([['shop', 20]]);
    await clock.advance(1);
    held.adopt(aSession({ merchant: 'kiosk', generation: 20, callMs: 80 }), 0);
    settlements.note('kiosk', contest(20));
    expect(settlements.open()).toEqual([['shop', 20]]);
  });

  it('are remembered by the highest generation that was noted', () => {
    const { held, settlements } = contested();
    held.adopt(aSession({ generation: 20 }), 0);
    settlements.note('shop', contest(20));
    settlements.note('shop', contest(10));
    expect(settlements.open()).toEqual([['shop', 20]]);
    held.adopt(aSession({ generation: 30 }), 0);
    settlements.note('shop', contest(30));
    expect(settlements.open()).toEqual([['shop', 30]]);
  });

  it('keep the moment at which they were first noted', async () => {
    const { clock, settlements } = contested();
    settlements.note('shop', contest(20));
    await clock.advance(15_000);
    settlements.note('shop', contest(20));
    await clock.advance(1);
    expect(settlements.open()).toEqual([['shop', 20]]);
  });

  it('are forgotten with their merchant', () => {
    const { held, settlements } = contested();
    held.adopt(aSession({ generation: 20 }), 0);
    settlements.note('shop', contest(20));
    settlements.forget('shop');
    expect(settlements.open()).toEqual([]);
  });
});
