import { aSession, FakeClock } from '#libs/testing';
import { HeldSessions } from './held-sessions.js';
import { Settlements } from './settlements.js';

function settling(): { held: HeldSessions; settlements: Settlements } {
  const held = new HeldSessions(new FakeClock());
  return { held, settlements: new Settlements(held) };
}

describe('two sessions of which nobody knows the last', () => {
  it('are open until a newer one than both is held', () => {
    const { held, settlements } = settling();
    settlements.note('shop', 10);
    held.adopt(aSession({ generation: 10 }), 0);
    expect(settlements.open()).toEqual([['shop', 10]]);
    held.adopt(aSession({ generation: 11 }), 0);
    expect(settlements.open()).toEqual([]);
  });

  it('stay settled', () => {
    const { held, settlements } = settling();
    settlements.note('shop', 10);
    held.adopt(aSession({ generation: 11 }), 0);
    settlements.open();
    held.drop('shop');
    expect(settlements.open()).toEqual([]);
  });

  it.each([
    [10, 20],
    [20, 10],
  ])('need one above the higher of all that were noted: %d, then %d', (first, second) => {
    const { settlements } = settling();
    settlements.note('shop', first);
    settlements.note('shop', second);
    expect(settlements.open()).toEqual([['shop', 20]]);
  });

  it('are settled merchant by merchant, and forgotten so', () => {
    const { held, settlements } = settling();
    for (const merchant of ['shop', 'stall', 'store']) settlements.note(merchant, 10);
    held.adopt(aSession({ merchant: 'stall', generation: 11 }), 0);
    settlements.forget('store');
    expect(settlements.open()).toEqual([['shop', 10]]);
  });

  it('are none at first', () => {
    expect(settling().settlements.open()).toEqual([]);
  });
});
