import { Rounds } from './rounds.js';

/** Rounds that end when the test says so. */
function slowRounds(): { rounds: Rounds; begun: () => number; endOne: () => Promise<void> } {
  const ends: (() => void)[] = [];
  let begun = 0;
  const rounds = new Rounds(async () => {
    begun += 1;
    await new Promise<void>((resolve) => ends.push(resolve));
  });
  const endOne = async (): Promise<void> => {
    ends.shift()?.();
    // Whoever waits for the end of a round continues within a few turns of the loop.
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  };
  return { rounds, begun: () => begun, endOne };
}

describe('rounds of work', () => {
  it('are made one at a time, and one more for all who asked meanwhile', async () => {
    const { rounds, begun, endOne } = slowRounds();
    const first = rounds.run();
    const others = [rounds.run(), rounds.run(), rounds.run()];
    expect(begun()).toBe(1);
    await endOne();
    expect(begun()).toBe(2);
    await endOne();
    await Promise.all([first, ...others]);
    expect(begun()).toBe(2);
  });

  it('lose no wish that comes in the very moment in which the last one ends', async () => {
    const { rounds, begun, endOne } = slowRounds();
    const first = rounds.run().then(() => void rounds.run());
    await endOne();
    await first;
    expect(begun()).toBe(2);
  });

  it('end with the one under way once they are closed, whoever asked for more', async () => {
    const { rounds, begun, endOne } = slowRounds();
    void rounds.run();
    void rounds.run();
    const closed = rounds.close();
    await endOne();
    await closed;
    await rounds.run();
    expect(begun()).toBe(1);
  });

  it('begin at once, in the step in which they are asked for', () => {
    const { rounds, begun } = slowRounds();
    void rounds.run();
    expect(begun()).toBe(1);
  });
});
