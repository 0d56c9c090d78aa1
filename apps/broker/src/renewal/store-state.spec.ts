import { FakeClock } from '#libs/testing';
import { StoreState } from './store-state.js';

describe('the state of the store', () => {
  it('is not known until it has answered, refused or been silent, and then since when and why', async () => {
    const clock = new FakeClock();
    const state = new StoreState(clock);
    expect([state.current, state.wasReached]).toEqual([undefined, false]);
    state.note('refuses', 'NOAUTH');
    const since = clock.now();
    await clock.advance(1_000);
    state.note('refuses', 'NOPERM');
    expect(state.current).toEqual({ condition: 'refuses', since, reason: 'NOPERM' });
    expect(state.wasReached).toBe(false);
  });

  it('remembers that it was reached, whatever comes later', async () => {
    const clock = new FakeClock();
    const state = new StoreState(clock);
    state.note('answers', 'the store answers');
    await clock.advance(1_000);
    state.note('silent', 'no answer in time');
    expect(state.current).toEqual({ condition: 'silent', since: clock.now(), reason: 'no answer in time' });
    expect(state.wasReached).toBe(true);
  });
});
