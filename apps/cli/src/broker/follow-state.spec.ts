import { Unauthenticated } from '#libs/client';
import { FakeClock } from '#libs/testing';
import { FollowState } from './follow-state.js';

describe('a wait for the next try', () => {
  const after = (error: Unauthenticated | undefined, passedMs: number): Promise<boolean> => {
    const clock = new FakeClock();
    const state = new FollowState(clock);
    const turn = state.begin();
    state.note({ type: 'interrupted', mode: 'events', retryInMs: 1_000, error });
    return clock.advance(passedMs).then(() => state.wake() && turn.aborted);
  };

  it('is ended while it lasts, and not once the next try is made', async () => {
    expect([await after(undefined, 999), await after(undefined, 1_000)]).toEqual([true, false]);
  });

  it('is ended however often the same refusal has come meanwhile, which is told once', async () => {
    expect(await after(new Unauthenticated('unauthenticated', 'no'), 9_000)).toBe(true);
  });
});
