import { FakeClock } from '#libs/testing';
import { LASTING_SILENCE_MS, StoreSilence } from './store-silence.js';

/** A query that nobody answered. */
interface Unanswered {
  readonly atMs: number;
  readonly tookMs?: number;
}

class Asker {
  readonly clock = new FakeClock();
  readonly silence = new StoreSilence(this.clock);

  at(ms: number): this {
    this.clock.freeze(ms - this.clock.monotonicMs());
    return this;
  }

  unanswered(...questions: readonly Unanswered[]): this {
    for (const { atMs, tookMs = 0 } of questions) {
      this.at(atMs + tookMs);
      this.silence.unanswered(atMs);
    }
    return this;
  }

  answered(atMs: number): this {
    this.at(atMs).silence.answered();
    return this;
  }

  isLastingAt(ms: number): boolean {
    return this.at(ms).silence.isLasting;
  }
}

const at = (...moments: readonly number[]): readonly Unanswered[] => moments.map((atMs) => ({ atMs }));

describe('a store that is silent', () => {
  it('is given up after five seconds', () => {
    expect(LASTING_SILENCE_MS).toBe(5_000);
  });

  const table: Readonly<Record<string, readonly [Asker, Readonly<Record<number, boolean>>]>> = {
    'is not given up by a process that never asked': [new Asker(), { 60_000: false }],
    'is given up five seconds after the first of three questions': [
      new Asker().unanswered(...at(100, 2_100, 4_100)),
      { 5_099: false, 5_100: true, 60_000: true },
    ],
    'is not given up for two questions, and is for the third': [
      new Asker().unanswered(...at(0, 3_000)),
      { 5_999: false, 6_000: false },
    ],
    'is given up for three questions that were three seconds apart': [
      new Asker().unanswered(...at(0, 3_000, 6_000)),
      { 6_000: true },
    ],
    'is counted anew after a pause of more than three seconds, in which nobody listened': [
      new Asker().unanswered(...at(0, 1_000, 2_000, 5_001, 6_001, 7_001)),
      { 7_001: false, 10_000: false, 10_001: true },
    ],
    'has not been silent in the pause itself': [
      new Asker().unanswered(...at(0, 1_000, 2_000, 5_001)),
      { 60_000: false },
    ],
    'is silent from the question on, not from its failure': [
      new Asker().unanswered({ atMs: 1_000, tookMs: 2_000 }, ...at(4_000, 5_000)),
      { 5_999: false, 6_000: true },
    ],
    'is asked by a process that is awake when a question takes three seconds': [
      new Asker().unanswered(...at(0, 1_000), { atMs: 2_000, tookMs: 3_000 }),
      { 5_000: true },
    ],
    'is not judged by a process that was stalled in its question': [
      new Asker().unanswered(...at(0, 1_000, 2_000), { atMs: 3_000, tookMs: 3_001 }),
      { 6_001: false, 60_000: false },
    ],
    'is counted anew after a stall, from the first question asked since': [
      new Asker().unanswered(...at(0, 1_000, 2_000), { atMs: 3_000, tookMs: 3_001 }, ...at(6_100, 7_000, 8_000)),
      { 11_099: false, 11_100: true },
    ],
    'is silent from the first question after its last answer on': [
      new Asker()
        .unanswered(...at(0, 1_000, 2_000))
        .answered(4_000)
        .unanswered(...at(4_500, 5_500, 6_500)),
      { 6_500: false, 9_499: false, 9_500: true },
    ],
    'has three questions to answer again after an answer': [
      new Asker()
        .unanswered(...at(0, 1_000, 2_000))
        .answered(2_500)
        .unanswered(...at(3_000, 4_000)),
      { 60_000: false },
    ],
    'may fail questions in another order than that in which they were asked': [
      new Asker().unanswered(...at(0, 2_900), { atMs: 500, tookMs: 2_500 }, ...at(5_800)),
      { 5_800: true },
    ],
    'is not silent for a question that it passed over before it answered another': [
      new Asker().answered(1_000).unanswered({ atMs: 500, tookMs: 1_000 }, ...at(1_500, 2_500)),
      { 5_500: false, 6_500: false },
    ],
    'is silent for a question that was asked in the moment of its answer': [
      new Asker().answered(1_000).unanswered(...at(1_000, 2_000, 3_000)),
      { 5_999: false, 6_000: true },
    ],
  };

  it.each(Object.entries(table))('%s', (_name, [asker, moments]) => {
    const judged = Object.keys(moments).map((ms) => [ms, asker.isLastingAt(Number(ms))]);
    expect(Object.fromEntries(judged)).toEqual(moments);
  });

  it('is not silent for good any more once it has answered', () => {
    const asker = new Asker().unanswered(...at(0, 2_000, 4_000));
    expect(asker.isLastingAt(5_000)).toBe(true);
    expect(asker.answered(5_000).isLastingAt(60_000)).toBe(false);
  });
});
