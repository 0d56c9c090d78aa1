import { BrokerError } from '#libs/errors';
import { FakeClock } from '#libs/testing';
import { Grace } from './grace.js';
import { isStoreOutage, isStoreSilence } from './store-outage.js';
import { StoreSilence } from './store-silence.js';

function silent(): { clock: FakeClock; silence: StoreSilence; ask: (tookMs: number) => Promise<void> } {
  const clock = new FakeClock();
  const silence = new StoreSilence(clock);
  const ask = async (tookMs: number): Promise<void> => {
    const askedAtMs = clock.monotonicMs();
    await clock.advance(tookMs);
    silence.unanswered(askedAtMs);
  };
  return { clock, silence, ask };
}

describe('the silence of a store', () => {
  it('lasts after three questions within five seconds, and not a millisecond before', async () => {
    const { clock, silence, ask } = silent();
    await clock.advance(60_000);
    await ask(1_000);
    await ask(1_000);
    await ask(1_000);
    expect(silence.isLasting).toBe(false);
    await clock.advance(1_999);
    expect(silence.isLasting).toBe(false);
    await clock.advance(1);
    expect(silence.isLasting).toBe(true);
  });

  it('does not last while it was asked twice, however long ago', async () => {
    const { clock, silence, ask } = silent();
    await ask(1_000);
    await ask(1_000);
    await clock.advance(60_000);
    expect(silence.isLasting).toBe(false);
  });

  it('ends with an answer, and is counted from its beginning again', async () => {
    const { clock, silence, ask } = silent();
    for (let question = 0; question < 6; question += 1) await ask(1_000);
    expect(silence.isLasting).toBe(true);
    silence.answered();
    expect(silence.isLasting).toBe(false);
    await ask(1_000);
    await ask(1_000);
    await ask(1_000);
    expect(silence.isLasting).toBe(false);
    await clock.advance(2_000);
    expect(silence.isLasting).toBe(true);
  });

  it('is not that of a process which was stalled during a question', async () => {
    const { clock, silence, ask } = silent();
    await ask(3_000);
    await ask(1_000);
    await ask(1_000);
    expect(silence.isLasting).toBe(true);
    await ask(3_001);
    expect(silence.isLasting).toBe(false);
    await ask(1_000);
    await ask(1_000);
    await ask(1_000);
    await clock.advance(1_999);
    expect(silence.isLasting).toBe(false);
    await clock.advance(1);
    expect(silence.isLasting).toBe(true);
  });

  it('is not that of a process which was stalled between two questions', async () => {
    const { clock, silence, ask } = silent();
    await ask(1_000);
    await ask(1_000);
    await clock.advance(2_000);
    await ask(1_000);
    expect(silence.isLasting).toBe(true);
    await clock.advance(2_001);
    await ask(1_000);
    expect(silence.isLasting).toBe(false);
    await ask(1_000);
    await ask(2_999);
    expect(silence.isLasting).toBe(false);
    await ask(1);
    expect(silence.isLasting).toBe(true);
  });

  it('counts questions that were asked side by side, in whatever order they are given up', async () => {
    const { clock, silence } = silent();
    await clock.advance(10_000);
    for (const askedAtMs of [9_000, 8_000, 9_500]) silence.unanswered(askedAtMs);
    await clock.advance(1_499);
    // The last one was sent at 9.5 s: one sent within three seconds of it continues the count.
    silence.unanswered(11_400);
    await clock.advance(2_501);
    expect(silence.isLasting).toBe(true);
  });

  it('is not broken by a question that was passed over before another was answered', async () => {
    const { clock, silence, ask } = silent();
    await clock.advance(1_000);
    silence.answered();
    silence.unanswered(500);
    await ask(1_000);
    await ask(1_000);
    await clock.advance(60_000);
    expect(silence.isLasting).toBe(false);
  });
});

describe('a failure of the store', () => {
  const table = {
    'is an outage and silence when it did not answer': [new BrokerError('store_unavailable'), true, true],
    'is an outage and no silence when it refused': [new BrokerError('store_refused'), true, false],
    'is neither when it is another failure of ours': [new BrokerError('internal_error'), false, false],
    'is neither when it is a bug': [new TypeError('store_unavailable'), false, false],
    'is neither when it only looks like one': [{ code: 'store_unavailable' }, false, false],
    'is neither when it only looks like a refusal': [{ code: 'store_refused' }, false, false],
    'is neither when nothing was thrown': [undefined, false, false],
  } as const;

  it.each(Object.entries(table))('%s', (_name, [error, isOutage, isSilence]) => {
    expect([isStoreOutage(error), isStoreSilence(error)]).toEqual([isOutage, isSilence]);
  });
});

describe('the grace that others are given', () => {
  it('is over before it has begun', () => {
    expect(new Grace(new FakeClock(), 1_500).leftMs()).toBe(0);
  });

  it('counts down from its beginning, in whole milliseconds, and never owes time', () => {
    const clock = new FakeClock();
    const grace = new Grace(clock, 1_500);
    grace.begin();
    const leftAfterMs = [0, 0.25, 1_499.5, 0.25, 60_000].map((ms) => {
      clock.freeze(ms);
      return grace.leftMs();
    });
    expect(leftAfterMs).toEqual([1_500, 1_500, 1, 0, 0]);
  });

  it('begins anew each time, and is none where nobody else is there', () => {
    const clock = new FakeClock();
    const [grace, none] = [new Grace(clock, 1_500), new Grace(clock, 0)];
    for (const one of [grace, none]) one.begin();
    clock.freeze(1_000);
    for (const one of [grace, none]) one.begin();
    expect([grace.leftMs(), none.leftMs()]).toEqual([1_500, 0]);
  });
});
