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

  it('has not worked since it stopped to answer, however it fails meanwhile, and answers since it does again', async () => {
    const clock = new FakeClock();
    const state = new StoreState(clock);
    state.note('answers', 'the store answers');
    await clock.advance(1_000);
    state.note('silent', 'ECONNREFUSED');
    const since = clock.now();
    await clock.advance(1_000);
    state.note('refuses', 'READONLY');
    expect(state.current).toEqual({ condition: 'refuses', since, reason: 'READONLY' });
    await clock.advance(1_000);
    state.note('answers', 'the store answers');
    expect(state.current).toMatchObject({ since: clock.now() });
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
