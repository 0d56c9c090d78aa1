import fc from 'fast-check';
import { FakeClock } from '#libs/testing';
import { Following } from './following.js';

interface Read {
  readonly merchants: readonly string[];
  answer(): void;
  fail(error?: unknown): void;
}

/** A store whose answers are given by the test. */
class Follower {
  readonly clock = new FakeClock();
  readonly reads: Read[] = [];
  readonly failures: { readonly merchants: readonly string[]; readonly error: unknown }[] = [];
  readonly following = new Following({
    clock: this.clock,
    read: (merchants) => this.#read(merchants),
    onFailure: (merchants, error) => this.failures.push({ merchants, error }),
  });

  get asked(): readonly (readonly string[])[] {
    return this.reads.map(({ merchants }) => merchants);
  }

  async answer(index: number): Promise<void> {
    this.reads[index]?.answer();
    await this.clock.settle();
  }

  async fail(index: number, error?: unknown): Promise<void> {
    this.reads[index]?.fail(error);
    await this.clock.settle();
  }

  #read(merchants: readonly string[]): Promise<void> {
    return new Promise((answer, fail) => this.reads.push({ merchants, answer, fail }));
  }
}

const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_none, index) => `m${index}`);

async function withFourThatHang(): Promise<Follower> {
  const follower = new Follower();
  for (const merchant of ['a', 'b', 'c', 'd']) follower.following.want([merchant]);
  await follower.clock.settle();
  return follower;
}

describe('a merchant that is wanted', () => {
  it('is read at once, and once', async () => {
    const follower = new Follower();
    follower.following.want(['shop', 'stall', 'shop']);
    expect(follower.asked).toEqual([['shop', 'stall']]);
    await follower.answer(0);
    await follower.clock.advance(10_000);
    expect(follower.asked).toHaveLength(1);
  });

  it('is read again when it was wanted during the read: that one may have begun too early', async () => {
    const follower = new Follower();
    follower.following.want(['shop']);
    follower.following.want(['shop']);
    expect(follower.asked).toEqual([['shop'], ['shop']]);
    await follower.answer(0);
    await follower.answer(1);
    await follower.clock.advance(10_000);
    expect(follower.asked).toHaveLength(2);
  });

  it('is read although another question hangs', async () => {
    const follower = new Follower();
    follower.following.want(['shop']);
    follower.following.want(['stall']);
    expect(follower.asked).toEqual([['shop'], ['stall']]);
    await follower.clock.advance(60_000);
    expect(follower.asked).toHaveLength(2);
  });

  it('waits for the first of four questions that comes back', async () => {
    const follower = await withFourThatHang();
    follower.following.want(['e']);
    follower.following.want(['a', 'f']);
    await follower.clock.advance(60_000);
    expect(follower.asked).toHaveLength(4);
    await follower.answer(2);
    expect(follower.asked.slice(4)).toEqual([['e', 'a', 'f']]);
  });

  it('is read with at most five hundred at once, on as many lanes as there are', async () => {
    const follower = new Follower();
    follower.following.want(numbered(2_600));
    expect(follower.asked.map(({ length }) => length)).toEqual([500, 500, 500, 500]);
    await follower.answer(3);
    await follower.answer(0);
    expect(follower.asked.map(({ length }) => length)).toEqual([500, 500, 500, 500, 500, 100]);
    expect(new Set(follower.asked.flat()).size).toBe(2_600);
  });

  it('fills one page and no more with five hundred', () => {
    const follower = new Follower();
    follower.following.want(numbered(500));
    expect(follower.asked.map(({ length }) => length)).toEqual([500]);
  });

  it('is not read any more when it was forgotten while it waited', async () => {
    const follower = await withFourThatHang();
    follower.following.want(['e', 'f']);
    follower.following.forget('e');
    await follower.answer(0);
    expect(follower.asked.slice(4)).toEqual([['f']]);
  });

  it('is asked for by nobody when nothing is wanted', async () => {
    const follower = new Follower();
    follower.following.want([]);
    follower.following.retryNow();
    await follower.clock.advance(10_000);
    expect(follower.asked).toEqual([]);
  });
});

describe('a merchant whose read failed', () => {
  async function withOneThatFailed(): Promise<Follower> {
    const follower = new Follower();
    follower.following.want(['shop']);
    await follower.fail(0, 'no answer');
    return follower;
  }

  it('is told of, with what went wrong', async () => {
    expect((await withOneThatFailed()).failures).toEqual([{ merchants: ['shop'], error: 'no answer' }]);
  });

  it('is read again after a second', async () => {
    const follower = await withOneThatFailed();
    await follower.clock.advance(999);
    expect(follower.asked).toHaveLength(1);
    await follower.clock.advance(1);
    expect(follower.asked).toEqual([['shop'], ['shop']]);
  });

  it('is read until it is heard', async () => {
    const follower = await withOneThatFailed();
    for (let index = 1; index < 20; index += 1) {
      await follower.clock.advance(1_000);
      await follower.fail(index);
    }
    await follower.clock.advance(1_000);
    await follower.answer(20);
    await follower.clock.advance(60_000);
    expect(follower.asked).toHaveLength(21);
    expect(follower.failures).toHaveLength(20);
  });

  it('is read with what was wanted meanwhile, and not before', async () => {
    const follower = await withOneThatFailed();
    follower.following.want(['stall']);
    await follower.clock.advance(999);
    expect(follower.asked).toHaveLength(1);
    await follower.clock.advance(1);
    expect(follower.asked.slice(1)).toEqual([['shop', 'stall']]);
  });

  it('is not read early because another question came back', async () => {
    const follower = await withFourThatHang();
    await follower.fail(0);
    await follower.answer(1);
    expect(follower.asked).toHaveLength(4);
    await follower.clock.advance(1_000);
    expect(follower.asked.slice(4)).toEqual([['a']]);
  });

  it('shares one timer with the others that failed, from the first failure on', async () => {
    const follower = await withFourThatHang();
    await follower.fail(0);
    await follower.clock.advance(300);
    await follower.fail(1);
    expect(follower.clock.pendingTasks).toBe(1);
    await follower.clock.advance(700);
    expect(follower.asked.slice(4)).toEqual([['a', 'b']]);
    expect(follower.clock.pendingTasks).toBe(0);
  });

  it('is read at once when the store may answer again, and not again by the timer', async () => {
    const follower = await withOneThatFailed();
    follower.following.retryNow();
    expect(follower.asked).toHaveLength(2);
    expect(follower.clock.pendingTasks).toBe(0);
    await follower.answer(1);
    await follower.clock.advance(10_000);
    expect(follower.asked).toHaveLength(2);
  });

  it('lets others be asked at once again after that', async () => {
    const follower = await withOneThatFailed();
    follower.following.retryNow();
    follower.following.want(['stall']);
    expect(follower.asked).toEqual([['shop'], ['shop'], ['stall']]);
  });

  it('waits for a lane when four questions hang and the store may answer again', async () => {
    const follower = await withFourThatHang();
    follower.following.want(['e']);
    follower.following.retryNow();
    expect(follower.asked).toHaveLength(4);
    await follower.fail(0);
    await follower.clock.advance(1_000);
    expect(follower.asked.slice(4)).toEqual([['e', 'a']]);
  });

  it('is not read again when it was forgotten meanwhile', async () => {
    const follower = await withOneThatFailed();
    follower.following.forget('shop');
    await follower.clock.advance(10_000);
    expect(follower.asked).toHaveLength(1);
    follower.following.want(['stall']);
    expect(follower.asked.slice(1)).toEqual([['stall']]);
  });
});

describe('once nobody follows any more', () => {
  it('no timer is left, and nothing is asked', async () => {
    const follower = new Follower();
    follower.following.want(['shop']);
    await follower.fail(0);
    follower.following.close();
    expect(follower.clock.pendingTasks).toBe(0);
    follower.following.want(['stall']);
    follower.following.retryNow();
    await follower.clock.advance(10_000);
    expect(follower.asked).toHaveLength(1);
  });

  it('what waited for a lane is not asked', async () => {
    const follower = await withFourThatHang();
    follower.following.want(['e']);
    follower.following.close();
    await follower.answer(0);
    expect(follower.asked).toHaveLength(4);
  });

  it('a question that fails late sets no timer', async () => {
    const follower = await withFourThatHang();
    follower.following.close();
    await follower.fail(0);
    expect(follower.clock.pendingTasks).toBe(0);
  });
});

describe('whatever happens in whatever order', () => {
  type Happening =
    | { readonly kind: 'want'; readonly merchant: string }
    | { readonly kind: 'answer' | 'fail'; readonly index: number }
    | { readonly kind: 'pass'; readonly ms: number }
    | { readonly kind: 'retry' };

  const happening: fc.Arbitrary<Happening> = fc.oneof(
    fc.record({ kind: fc.constant('want' as const), merchant: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f') }),
    fc.record({ kind: fc.constantFrom('answer' as const, 'fail' as const), index: fc.nat(5) }),
    fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 600 }) }),
    fc.record({ kind: fc.constant('retry' as const) }),
  );

  /** Records when each merchant was last wanted, and when the latest read that returned it began. */
  class Ledger {
    readonly wantedAt = new Map<string, number>();
    readonly servedAt = new Map<string, number>();
    readonly pending: { readonly beganAt: number; readonly merchants: readonly string[]; readonly read: Read }[] = [];
    mostPending = 0;
    readonly clock = new FakeClock();
    #step = 0;
    readonly #following = new Following({
      clock: this.clock,
      read: (merchants) => {
        return new Promise((answer, fail) => {
          const read = { merchants, answer, fail };
          this.pending.push({ beganAt: (this.#step += 1), merchants, read });
          this.mostPending = Math.max(this.mostPending, this.pending.length);
        });
      },
      onFailure: () => undefined,
    });

    async apply(happened: Happening): Promise<void> {
      if (happened.kind === 'want') {
        this.wantedAt.set(happened.merchant, (this.#step += 1));
        this.#following.want([happened.merchant]);
      } else if (happened.kind === 'pass') await this.clock.advance(happened.ms);
      else if (happened.kind === 'retry') this.#following.retryNow();
      else await this.#end(happened.kind, happened.index);
    }

    async #end(how: 'answer' | 'fail', index: number): Promise<void> {
      const [ended] = this.pending.splice(index % Math.max(1, this.pending.length), 1);
      if (ended === undefined) return;
      for (const merchant of how === 'answer' ? ended.merchants : []) {
        this.servedAt.set(merchant, Math.max(ended.beganAt, this.servedAt.get(merchant) ?? 0));
      }
      if (how === 'answer') ended.read.answer();
      else ended.read.fail();
      await this.clock.settle();
    }

    async finish(): Promise<void> {
      for (let round = 0; round < 30; round += 1) {
        while (this.pending.length > 0) await this.#end('answer', 0);
        await this.clock.advance(1_000);
      }
    }
  }

  it('every merchant is heard by a read that began after it was wanted, on four lanes at most', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { maxLength: 30 }), async (happenings) => {
        const ledger = new Ledger();
        for (const happened of happenings) await ledger.apply(happened);
        await ledger.finish();
        for (const [merchant, wantedAt] of ledger.wantedAt) {
          expect(ledger.servedAt.get(merchant) ?? 0).toBeGreaterThan(wantedAt);
        }
        expect(ledger.mostPending).toBeLessThanOrEqual(4);
        expect(ledger.clock.pendingTasks).toBe(0);
      }),
      { numRuns: 40 },
    );
  });
});
