import { FakeClock } from '#libs/testing';
import { Attempts } from './attempts.js';

describe('the attempts of an operation', () => {
  const clock = new FakeClock();
  const times = (attempts: Attempts, count: number, subject = 'one'): void => {
    for (let made = 0; made < count; made += 1) attempts.count(subject);
  };

  it('are seventy a day, which begins with the first of them', async () => {
    const attempts = new Attempts(clock, 10);
    times(attempts, 70);
    expect(() => attempts.count('one')).toThrow('b_txn_not_allowed');
    await clock.advance(86_399_999);
    expect(() => attempts.count('one')).toThrow('b_txn_not_allowed');
    await clock.advance(1);
    expect(() => times(attempts, 70)).not.toThrow();
  });

  it('are counted for each operation by itself', () => {
    const attempts = new Attempts(clock, 10);
    times(attempts, 70);
    expect(() => times(attempts, 70, 'another')).not.toThrow();
  });

  it('are forgotten for the oldest of too many operations, and by a reset', () => {
    const attempts = new Attempts(clock, 1);
    times(attempts, 70);
    times(attempts, 1, 'another');
    expect(() => times(attempts, 70)).not.toThrow();
    attempts.reset();
    expect(() => times(attempts, 70)).not.toThrow();
  });
});
