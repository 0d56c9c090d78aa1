import { FakeClock } from '#libs/testing';
import { Reads } from './reads.js';

interface Read {
  readonly merchants: readonly string[];
  readonly answer: () => void;
  readonly fail: () => void;
}

function follower() {
  const clock = new FakeClock();
  const reads: Read[] = [];
  const following = new Reads(
    clock,
    (merchants) =>
      new Promise((heard) => reads.push({ merchants, answer: () => heard(true), fail: () => heard(false) })),
  );
  const want = async (merchants: readonly string[]): Promise<void> => {
    for (const merchant of merchants) following.want(merchant);
    await clock.settle();
  };
  const asked = (): unknown[] => reads.map(({ merchants }) => merchants);
  return { clock, reads, following, want, asked };
}

const many = (count: number, from = 0): string[] => Array.from({ length: count }, (_, index) => `m${from + index}`);

describe('reads of the store', () => {
  it('reads what is wanted at once, and what is wanted meanwhile by a read of its own', async () => {
    const { clock, reads, want, asked } = follower();
    await want(['shop']);
    expect(asked()).toEqual([['shop']]);
    await want(['shop', 'kiosk']);
    reads[0]?.answer();
    await clock.settle();
    expect(asked()).toEqual([['shop'], ['shop', 'kiosk']]);
    reads[1]?.answer();
    await clock.settle();
    expect(reads).toHaveLength(2);
  });

  it('asks for five hundred merchants at a time, in four questions at once', async () => {
    const { clock, reads, want } = follower();
    await want(many(2_501));
    expect(reads.map(({ merchants }) => merchants.length)).toEqual([500, 500, 500, 500]);
    reads[2]?.answer();
    await clock.settle();
    expect(reads.map(({ merchants }) => merchants.length)).toEqual([500, 500, 500, 500, 500]);
    reads[0]?.answer();
    await clock.settle();
    expect(reads.at(-1)?.merchants).toEqual(['m2500']);
    expect(new Set(reads.flatMap(({ merchants }) => merchants)).size).toBe(2_501);
  });

  it('asks again for what failed, after half a second and not before', async () => {
    const { clock, reads, want, asked } = follower();
    await want(['shop']);
    reads[0]?.fail();
    await clock.advance(499);
    await want(['kiosk']);
    expect(reads).toHaveLength(1);
    await clock.advance(1);
    expect(asked()).toEqual([['shop'], ['shop', 'kiosk']]);
    reads[1]?.answer();
    await clock.advance(60_000);
    expect(reads).toHaveLength(2);
  });

  it('asks nothing more before that, of what had to wait for its turn either', async () => {
    const { clock, reads, want } = follower();
    await want(many(2_500));
    reads[0]?.fail();
    await clock.advance(499);
    expect(reads).toHaveLength(4);
    await clock.advance(1);
    expect(reads).toHaveLength(5);
  });

  it('has one retry for all that failed, and a success meanwhile does not bring it forward', async () => {
    const { clock, reads, want, asked } = follower();
    await want(many(1_000));
    reads[0]?.fail();
    await clock.advance(250);
    reads[1]?.fail();
    await clock.settle();
    expect(clock.pendingTasks).toBe(1);
    await clock.advance(250);
    expect(asked().slice(2)).toEqual([many(500), many(500, 500)]);
    reads[2]?.fail();
    await clock.settle();
    reads[3]?.answer();
    await clock.advance(499);
    expect(reads).toHaveLength(4);
    await clock.advance(1);
    expect(reads).toHaveLength(5);
  });

  it('asks at once when the store may answer again, and not a second time', async () => {
    const { clock, reads, following, want } = follower();
    await want(['shop']);
    reads[0]?.fail();
    await clock.settle();
    following.retryNow();
    expect(reads).toHaveLength(2);
    reads[1]?.answer();
    await clock.advance(60_000);
    expect(reads).toHaveLength(2);
    following.retryNow();
    expect(reads).toHaveLength(2);
  });

  it.each(['after', 'before'])(
    'ends when it is closed %s something failed: nothing is asked any more, and no timer stays',
    async (when) => {
      const { clock, reads, following, want } = follower();
      await want(['shop']);
      if (when === 'before') following.close();
      reads[0]?.fail();
      await clock.settle();
      following.close();
      expect(clock.pendingTasks).toBe(0);
      await want(['kiosk']);
      following.retryNow();
      await clock.advance(60_000);
      expect(reads).toHaveLength(1);
    },
  );
});
