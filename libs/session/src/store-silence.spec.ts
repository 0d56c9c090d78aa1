import { FakeClock } from '#libs/testing';
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
