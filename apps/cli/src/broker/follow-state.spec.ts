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

describe('what is left of a merchant whose condition is not seen', () => {
  async function stateAfter(silentMs: number, unansweredMs?: number): Promise<FollowState> {
    const clock = new FakeClock();
    const state = new FollowState(clock);
    state.note({ type: 'following', mode: 'events' });
    await clock.advance(silentMs);
    state.asked(unansweredMs);
    return state;
  }

  it('is the stream while the replica answers, and while the stream gives signs that it lives', async () => {
    const state = await stateAfter(14_000, 4_000);
    state.heard();
    expect([(await stateAfter(14_000)).left.kind, state.left.kind]).toEqual(['stream', 'stream']);
  });

  it.each([
    ['since the replica was asked and has answered nothing', 14_000, 4_000],
    ['for longer than a broker ever is, though nobody could ask it', 20_000, undefined],
  ])('is no promise of sessions where the stream has been silent %s', async (_what, silentMs, unansweredMs) => {
    expect((await stateAfter(silentMs, unansweredMs)).left).toEqual({
      kind: 'silent',
      words: 'nothing is seen of the merchant, and its stream, which is open still, has been silent since 00:00:00 UTC',
      facts: { streamOpen: false, streamSilentSince: '2026-01-01T00:00:00.000Z' },
    });
  });
});
