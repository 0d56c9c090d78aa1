import { FakeClock } from '#libs/testing';
import { AloneAllowance } from './alone-allowance.js';

type Step =
  'need' | 'rejection' | 'answer' | { readonly passMs: number } | { readonly failedForMs: number } | 'success';

function allowanceAfter(...steps: readonly Step[]): AloneAllowance {
  const clock = new FakeClock();
  const allowance = new AloneAllowance(clock);
  for (const step of steps) {
    if (step === 'answer') allowance.startOver();
    else if (step === 'success') allowance.succeeded('shop');
    else if (typeof step === 'string') allowance.called('shop', step);
    else if ('passMs' in step) clock.freeze(step.passMs);
    else allowance.failed('shop', { retryInMs: step.failedForMs, wasReached: true });
  }
  return allowance;
}

const times = (count: number, step: Step): readonly Step[] => Array.from({ length: count }, () => step);

describe('calls that a replica makes by itself', () => {
  const table: Readonly<Record<string, readonly [readonly Step[], number]>> = {
    'may begin at once': [[], 0],
    'are ten seconds apart': [['need'], 10_000],
    'wait until the last millisecond of that': [['need', { passMs: 9_999 }], 1],
    'may be made again after it': [['need', { passMs: 10_000 }], 0],
    'never wait a negative time': [['need', { passMs: 60_000 }], 0],
    'are ten seconds apart however many there were': [[...times(20, 'need')], 10_000],
    'wait twice as long after a rejection': [['rejection'], 20_000],
    'wait twice as long again after each further one': [[...times(3, 'rejection')], 80_000],
    'still wait as long after a need that follows rejections': [['rejection', 'rejection', 'need'], 40_000],
    'wait 320 s after five rejections': [[...times(5, 'rejection')], 320_000],
    'wait ten minutes at most': [[...times(6, 'rejection')], 600_000],
    'wait ten minutes after any number of rejections': [[...times(2_000, 'rejection')], 600_000],
    'double from ten seconds again once the store has answered': [
      ['rejection', 'rejection', 'answer', 'rejection'],
      20_000,
    ],
    'keep the pause after the last call although the store has answered': [
      ['rejection', 'rejection', 'answer'],
      40_000,
    ],
    'wait for the end of a back-off that is longer than the pause': [['need', { failedForMs: 30_000 }], 30_000],
    'wait for the pause when the back-off is shorter': [['need', { failedForMs: 9_999 }], 10_000],
    'wait from the failure on': [['need', { passMs: 9_000 }, { failedForMs: 5_000 }], 5_000],
    'wait as long after a success as before it': [['need', 'success'], 10_000],
  };

  it.each(Object.entries(table))('%s', (_name, [steps, waitMs]) => {
    expect(allowanceAfter(...steps).waitMs('shop')).toBe(waitMs);
  });

  it.each([
    ['none', [], 0],
    ['each', [{ failedForMs: 0 }, { failedForMs: 0 }], 2],
    ['those since the last success', [{ failedForMs: 0 }, 'success', { failedForMs: 0 }], 1],
    ['those before a further call', [{ failedForMs: 0 }, 'need', 'rejection'], 1],
    ['those before the store answered', [{ failedForMs: 0 }, 'answer'], 1],
  ] as const)('count as failures: %s', (_name, steps, failures) => {
    expect(allowanceAfter(...steps).failures('shop')).toBe(failures);
  });

  it('are counted merchant by merchant', () => {
    const allowance = allowanceAfter('rejection', { failedForMs: 90_000 });
    expect([allowance.waitMs('stall'), allowance.failures('stall')]).toEqual([0, 0]);
    allowance.called('stall', 'need');
    expect([allowance.waitMs('stall'), allowance.waitMs('shop')]).toEqual([10_000, 90_000]);
  });

  it('start over for every merchant', () => {
    const allowance = allowanceAfter('rejection', 'rejection');
    allowance.called('stall', 'rejection');
    allowance.startOver();
    allowance.called('shop', 'rejection');
    allowance.called('stall', 'rejection');
    expect([allowance.waitMs('shop'), allowance.waitMs('stall')]).toEqual([20_000, 20_000]);
  });
});
