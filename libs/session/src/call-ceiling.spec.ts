import { FakeClock } from '#libs/testing';
import { CallCeiling } from './call-ceiling.js';

const budget = [{ calls: 2, perMs: 1_000 }];

describe('the ceiling of calls of one process', () => {
  it('lets a call be made while fewer than the budget lie in the window, to the millisecond', async () => {
    const clock = new FakeClock();
    const ceiling = new CallCeiling(clock);
    expect(ceiling.waitMs('shop', budget)).toBe(0);
    ceiling.called('shop');
    await clock.advance(300);
    expect(ceiling.waitMs('shop', budget)).toBe(0);
    ceiling.called('shop');
    expect(ceiling.waitMs('shop', budget)).toBe(700);
    await clock.advance(699);
    expect(ceiling.waitMs('shop', budget)).toBe(1);
    await clock.advance(1);
    expect(ceiling.waitMs('shop', budget)).toBe(0);
    ceiling.called('shop');
    expect(ceiling.waitMs('shop', budget)).toBe(300);
  });

  it('waits for as many calls as a lowered budget wants gone', async () => {
    const clock = new FakeClock();
    const ceiling = new CallCeiling(clock);
    ceiling.called('shop');
    await clock.advance(100);
    ceiling.called('shop');
    expect(ceiling.waitMs('shop', [{ calls: 1, perMs: 1_000 }])).toBe(1_000);
  });

  it('is that of each merchant alone', () => {
    const ceiling = new CallCeiling(new FakeClock());
    ceiling.called('shop');
    ceiling.called('shop');
    expect(ceiling.waitMs('kiosk', budget)).toBe(0);
  });
});
