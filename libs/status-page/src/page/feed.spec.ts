import { Feed, type News } from './feed.js';

/** A replica whose answers come when the test says so. */
class Rig {
  readonly heard: (number | undefined)[] = [];
  /** What the page waits for, each with how long it waits. */
  readonly pauses = new Map<() => void, number>();
  readonly #asked: ((news: News | undefined) => void)[] = [];
  readonly feed = new Feed({
    load: () => new Promise((resolve) => this.#asked.push(resolve)),
    onNews: (news) => this.heard.push(news?.whole.at),
    after: (delayMs, task) => {
      this.pauses.set(task, delayMs);
      return () => void this.pauses.delete(task);
    },
  });

  get asked(): number {
    return this.#asked.length;
  }

  async answer(question: number, at: number | undefined): Promise<void> {
    const document = { at } as News['whole'];
    this.#asked[question]?.(at === undefined ? undefined : { whole: document, found: document });
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  }

  wake(): void {
    const [task] = this.pauses.keys();
    if (task !== undefined) this.pauses.delete(task);
    task?.();
  }
}

describe('the feed of the page', () => {
  it('asks again two seconds after each answer, and after none', async () => {
    const rig = new Rig();
    void rig.feed.ask();
    await rig.answer(0, 1);
    expect([...rig.pauses.values()]).toEqual([2_000]);
    rig.wake();
    await rig.answer(1, undefined);
    expect([...rig.pauses.values()]).toEqual([2_000]);
    rig.wake();
    await rig.answer(2, 3);
    expect(rig.heard).toEqual([1, undefined, 3]);
  });

  it('asks at once when the reader searches for something else, and drops the answer to what went before', async () => {
    const rig = new Rig();
    void rig.feed.ask();
    void rig.feed.ask();
    await rig.answer(1, 2);
    await rig.answer(0, 1);
    expect(rig.heard).toEqual([2]);
    void rig.feed.ask();
    expect([rig.asked, rig.pauses.size]).toEqual([3, 0]);
    await rig.answer(2, 3);
    expect([rig.heard, rig.pauses.size]).toEqual([[2, 3], 1]);
  });
});
