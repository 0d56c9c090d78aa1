import type { StatusDocument } from '../status-document.js';
import { Feed, type FeedState } from './feed.js';
import { PlayedTime } from './played-time.js';

/** A browser's event stream whose other end is controlled by the test. */
class Source extends EventTarget {
  closed = false;

  close(): void {
    this.closed = true;
  }

  tell(at: number): void {
    this.dispatchEvent(new MessageEvent('status', { data: JSON.stringify({ at }) }));
  }

  fail(): void {
    this.dispatchEvent(new Event('error'));
  }
}

class Rig {
  readonly time = new PlayedTime();
  readonly sources: Source[] = [];
  readonly heard: number[] = [];
  readonly states: FeedState[] = [];
  answer: number | undefined = 1;

  async start(): Promise<void> {
    const feed = new Feed({
      onDocument: ({ at }) => this.heard.push(at),
      onState: (state) => {
        if (this.states.at(-1) !== state) this.states.push(state);
      },
      open: () => {
        this.sources.push(new Source());
        return this.source as unknown as EventSource;
      },
      load: async () => (this.answer === undefined ? undefined : ({ at: this.answer } as StatusDocument)),
      after: this.time.after,
    });
    await feed.start();
  }

  get source(): Source {
    return this.sources.at(-1)!;
  }
}

describe('the feed of the page', () => {
  it('begins with the first state and goes on with events', async () => {
    const rig = new Rig();
    await rig.start();
    rig.source.tell(2);
    rig.source.tell(3);
    expect(rig.heard).toEqual([1, 2, 3]);
    expect(rig.states).toEqual(['connecting', 'live']);
  });

  it('says that the connection is lost and comes back by itself, more and more patiently', async () => {
    const rig = new Rig();
    await rig.start();
    rig.source.tell(2);
    rig.answer = undefined;
    const tries: number[] = [];
    for (let second = 0; second < 60; second += 1) {
      const before = rig.sources.length;
      if (!rig.source.closed) rig.source.fail();
      await rig.time.advance(1_000);
      tries.push(rig.sources.length - before);
    }
    expect(rig.states).toEqual(['connecting', 'live', 'lost']);
    expect(tries.slice(0, 10)).toEqual([1, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
    expect(rig.sources.length).toBeLessThan(12);
    expect(rig.sources.slice(0, -1).every(({ closed }) => closed)).toBe(true);
    await rig.time.advance(10_000);
    rig.source.tell(9);
    expect([rig.states.at(-1), rig.heard.at(-1)]).toEqual(['live', 9]);
  });

  it('asks for the state while there is no place among the viewers', async () => {
    const rig = new Rig();
    await rig.start();
    for (const at of [5, 6, 7]) {
      rig.answer = at;
      rig.source.fail();
      await rig.time.advance(10_000);
    }
    expect(rig.heard).toEqual([1, 5, 6, 7]);
    expect(rig.states).toEqual(['connecting', 'asking']);
  });

  it('takes a long silence for a dead connection', async () => {
    const rig = new Rig();
    await rig.start();
    for (let beat = 0; beat < 5; beat += 1) {
      await rig.time.advance(5_000);
      rig.source.tell(beat);
    }
    expect(rig.sources).toHaveLength(1);
    rig.answer = undefined;
    await rig.time.advance(12_000);
    expect(rig.states.at(-1)).toBe('lost');
    await rig.time.advance(1_000);
    expect(rig.sources).toHaveLength(2);
  });
});
