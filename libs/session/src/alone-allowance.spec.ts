import { FakeClock } from '#libs/testing';
import { AloneAllowance } from './alone-allowance.js';

const SECOND = 1_000;

function allowed(): { clock: FakeClock; allowance: AloneAllowance } {
  const clock = new FakeClock();
  return { clock, allowance: new AloneAllowance(clock) };
}

describe('calls that a replica makes alone', () => {
  it('are ten seconds apart for a need, however many there were', async () => {
    const { clock, allowance } = allowed();
    expect(allowance.waitMs('shop')).toBe(0);
    for (let call = 0; call < 3; call += 1) {
      allowance.called('shop', 'need');
      expect(allowance.waitMs('shop')).toBe(10 * SECOND);
      await clock.advance(10 * SECOND - 1);
      expect(allowance.waitMs('shop')).toBe(1);
      await clock.advance(1);
      expect(allowance.waitMs('shop')).toBe(0);
    }
  });

  it('are twice as far apart after each rejection, ten minutes at most', async () => {
    const { clock, allowance } = allowed();
    const pauses: number[] = [];
    for (let call = 0; call < 13; call += 1) {
      allowance.called('shop', 'rejection');
      pauses.push(allowance.waitMs('shop') / SECOND);
      await clock.advance(600 * SECOND);
    }
    expect(pauses).toEqual([20, 40, 80, 160, 320, ...Array.from({ length: 8 }, () => 600)]);
  });

  it('are counted for each merchant alone', () => {
    const { allowance } = allowed();
    allowance.called('shop', 'rejection');
    allowance.failed('shop', { retryInMs: 60_000, wasReached: true });
    expect(allowance.waitMs('kiosk')).toBe(0);
    expect(allowance.failures('kiosk')).toBe(0);
  });

  it('wait for the back-off of a failure, and never less than the pause of the call', () => {
    const { allowance } = allowed();
    allowance.called('shop', 'need');
    allowance.failed('shop', { retryInMs: 2 * SECOND, wasReached: true });
    expect(allowance.waitMs('shop')).toBe(10 * SECOND);
    allowance.failed('shop', { retryInMs: 30 * SECOND, wasReached: true });
    expect(allowance.waitMs('shop')).toBe(30 * SECOND);
    expect(allowance.failures('shop')).toBe(2);
    allowance.succeeded('shop');
    expect(allowance.failures('shop')).toBe(0);
  });

  it('begin with the shortest pause again when the store has answered, after the pause of the last call', async () => {
    const { clock, allowance } = allowed();
    allowance.called('shop', 'rejection');
    allowance.called('shop', 'rejection');
    allowance.startOver();
    expect(allowance.waitMs('shop')).toBe(40 * SECOND);
    await clock.advance(40 * SECOND);
    allowance.called('shop', 'rejection');
    expect(allowance.waitMs('shop')).toBe(20 * SECOND);
  });
});
