import { FakeClock } from '#libs/testing';
import { HEARTBEAT_MS, MAX_VIEWERS, PACE_MS, StatusViewers, type ViewerSink } from './status-viewers.js';

/** A page's stream that accepts nothing while it is stalled. */
class Stream implements ViewerSink {
  readonly frames: string[] = [];
  writableLength = 0;
  ended = false;
  destroyed = false;
  isStalled = false;

  write(chunk: Uint8Array): void {
    this.frames.push(Buffer.from(chunk).toString());
    if (this.isStalled) this.writableLength += chunk.length;
  }

  end(): void {
    this.ended = true;
  }

  destroy(): void {
    this.destroyed = true;
  }
}

class Hall {
  readonly clock = new FakeClock();
  made = 0;
  readonly viewers = new StatusViewers({ clock: this.clock, frame: () => Buffer.from(`state ${(this.made += 1)}`) });

  enter(): Stream & { leave: () => void } {
    const stream = new Stream();
    return Object.assign(stream, { leave: this.viewers.add(stream) });
  }
}

describe('the viewers of the status page', () => {
  it('are all sent the same document, made once: at once, and when there is news', async () => {
    const hall = new Hall();
    const streams = [hall.enter(), hall.enter(), hall.enter()];
    expect(hall.made).toBe(1);
    hall.viewers.noteNews();
    await hall.clock.advance(PACE_MS);
    expect(hall.made).toBe(2);
    expect(streams.map(({ frames }) => frames)).toEqual([
      ['state 1', 'state 2'],
      ['state 1', 'state 2'],
      ['state 1', 'state 2'],
    ]);
  });

  it('hear once a second at most, however much news there is', async () => {
    const hall = new Hall();
    const stream = hall.enter();
    for (let step = 0; step < 100; step += 1) {
      hall.viewers.noteNews();
      await hall.clock.advance(PACE_MS / 20);
    }
    expect(stream.frames).toHaveLength(6);
  });

  it('hear from time to time even without news', async () => {
    const hall = new Hall();
    const stream = hall.enter();
    await hall.clock.advance(4 * HEARTBEAT_MS);
    expect(stream.frames).toHaveLength(5);
  });

  it('are skipped while they have not read the last document, and cut when they do not read at all', async () => {
    const hall = new Hall();
    const [slow, dead, good] = [hall.enter(), hall.enter(), hall.enter()];
    slow.isStalled = dead.isStalled = true;
    for (let second = 0; second < 30; second += 1) {
      hall.viewers.noteNews();
      if (second % 10 === 9) slow.writableLength = 0;
      await hall.clock.advance(PACE_MS);
    }
    expect(good.frames).toHaveLength(31);
    expect([slow.destroyed, dead.destroyed]).toEqual([false, true]);
    expect(slow.frames.length).toBeLessThan(6);
    expect(dead.frames).toHaveLength(2);
  });

  it('are bounded in number, and a place that was left is free again', () => {
    const hall = new Hall();
    const streams = Array.from({ length: MAX_VIEWERS }, () => hall.enter());
    expect(() => hall.viewers.assertRoom()).toThrow(expect.objectContaining({ code: 'overloaded' }));
    streams[0]?.leave();
    streams[0]?.leave();
    expect(hall.viewers.count).toBe(MAX_VIEWERS - 1);
    expect(() => hall.viewers.assertRoom()).not.toThrow();
  });

  it('cost nothing when there are none', async () => {
    const hall = new Hall();
    hall.viewers.noteNews();
    const stream = hall.enter();
    stream.leave();
    expect(hall.clock.pendingTasks).toBe(0);
    await hall.clock.advance(10 * HEARTBEAT_MS);
    expect([hall.made, stream.frames.length]).toEqual([1, 1]);
  });

  it('do not make a document each by coming back again and again', async () => {
    const hall = new Hall();
    const stays = hall.enter();
    for (let visit = 0; visit < 50; visit += 1) hall.enter().leave();
    expect([hall.made, stays.frames.length]).toEqual([1, 1]);
  });

  it('are all let go at shutdown, and no more are let in', () => {
    const hall = new Hall();
    const streams = [hall.enter(), hall.enter()];
    hall.viewers.close();
    expect(streams.map(({ ended }) => ended)).toEqual([true, true]);
    expect(() => hall.viewers.assertRoom()).toThrow(expect.objectContaining({ code: 'shutting_down' }));
    expect(hall.clock.pendingTasks).toBe(0);
  });
});
