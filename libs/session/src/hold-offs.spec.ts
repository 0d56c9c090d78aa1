import { FakeClock } from '#libs/testing';
import { HoldOffs } from './hold-offs.js';

function holdingOff(): { clock: FakeClock; holdOffs: HoldOffs } {
  const clock = new FakeClock();
  return { clock, holdOffs: new HoldOffs(clock) };
}

describe('what the store refused lately', () => {
  it.each(['held', 'backing_off', 'budget_exhausted'] as const)(
    'stands for everybody until its wait is over: %s',
    async (kind) => {
      const { clock, holdOffs } = holdingOff();
      holdOffs.note('shop', { kind, retryInMs: 1_000, mark: 'a' });
      await clock.advance(999);
      expect(holdOffs.find('shop', 0)).toEqual({ kind, retryInMs: 1, mark: 'a' });
      expect(holdOffs.find('shop', 10_000)).toEqual({ kind, retryInMs: 1, mark: 'a' });
      expect(holdOffs.find('kiosk', 10_000)).toBeUndefined();
      await clock.advance(1);
      expect(holdOffs.find('shop', 0)).toBeUndefined();
    },
  );

  it('stands for those alone who would replace a living session when it is a cool-down', async () => {
    const { clock, holdOffs } = holdingOff();
    holdOffs.note('shop', { kind: 'cooled_down', retryInMs: 1_000 });
    expect(holdOffs.find('shop', 0)).toBeUndefined();
    expect(holdOffs.find('shop', 10_000)).toEqual({ kind: 'cooled_down', retryInMs: 1_000 });
    await clock.advance(1_000);
    expect(holdOffs.find('shop', 10_000)).toBeUndefined();
    holdOffs.note('shop', { kind: 'cooled_down', retryInMs: 1_000 }, 600_000);
    expect(holdOffs.find('shop', 10_000)).toBeUndefined();
    expect(holdOffs.find('shop', 600_000)).toMatchObject({ kind: 'cooled_down' });
  });

  it('is of no use when it is only not due: the schedule asks anyway', () => {
    const { holdOffs } = holdingOff();
    holdOffs.note('shop', { kind: 'not_due', retryInMs: 1_000 });
    expect(holdOffs.find('shop', 10_000)).toBeUndefined();
  });

  it('is told by what concerns everybody before a cool-down', () => {
    const { holdOffs } = holdingOff();
    holdOffs.note('shop', { kind: 'cooled_down', retryInMs: 1_000 });
    holdOffs.note('shop', { kind: 'held', retryInMs: 500 });
    expect(holdOffs.find('shop', 10_000)).toMatchObject({ kind: 'held' });
  });

  it('is remembered of a spent budget until its wait is over, whatever was refused meanwhile', async () => {
    const { clock, holdOffs } = holdingOff();
    expect(holdOffs.isBudgetSpent('shop')).toBe(false);
    holdOffs.note('shop', { kind: 'budget_exhausted', retryInMs: 1_000 });
    holdOffs.note('shop', { kind: 'backing_off', retryInMs: 500 });
    await clock.advance(999);
    expect([holdOffs.isBudgetSpent('shop'), holdOffs.isBudgetSpent('kiosk')]).toEqual([true, false]);
    await clock.advance(1);
    expect(holdOffs.isBudgetSpent('shop')).toBe(false);
    holdOffs.note('shop', { kind: 'budget_exhausted', retryInMs: 1_000 });
    holdOffs.forget('shop');
    expect(holdOffs.isBudgetSpent('shop')).toBe(false);
  });

  it('is told of a share of the budget apart from all of it', () => {
    const { holdOffs } = holdingOff();
    const refusal = { kind: 'budget_exhausted', retryInMs: 1_000, perMs: 60_000 } as const;
    holdOffs.note('shop', refusal, 10_000);
    expect([holdOffs.isBudgetSpent('shop'), holdOffs.spentBudget('shop')]).toEqual([true, undefined]);
    holdOffs.note('shop', refusal);
    expect(holdOffs.spentBudget('shop')).toEqual(refusal);
  });

  it('is forgotten, whichever it was', () => {
    const { holdOffs } = holdingOff();
    holdOffs.note('shop', { kind: 'cooled_down', retryInMs: 1_000 });
    holdOffs.note('shop', { kind: 'held', retryInMs: 500 });
    holdOffs.forget('shop');
    expect(holdOffs.find('shop', 10_000)).toBeUndefined();
  });
});
