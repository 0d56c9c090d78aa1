import { Feed, type News } from './feed.js';

/** A replica whose answers come when the test says so. */
class Rig {
  readonly heard: (number | undefined)[] = [];
  /** What the page waits for. */
  readonly pauses = new Set<() => void>();
  readonly #asked: ((news: News | undefined) => void)[] = [];
  readonly feed = new Feed({
    load: () => new Promise((resolve) => this.#asked.push(resolve)),
    onNews: (news) => this.heard.push(news?.whole.at),
    after: (_delayMs, task) => {
      this.pauses.add(task);
      return () => void this.pauses.delete(task);
    },
  });

  get asked(): number {
    return this.#asked.length;
  }

  async answer(question: number, at: number): Promise<void> {
    const document = { at } as News['whole'];
    this.#asked[question]?.({ whole: document, found: document });
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  }
}

describe('the feed of the page', () => {
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
