import type { BrokerConfiguration } from '#libs/configuration';
import { HeldSessions, type Session, type SessionReplica } from '#libs/session';
import { aSession, FakeClock, hold } from '#libs/testing';
import { generationOfLastEvent } from './events.controller.js';
import { SessionWatchers } from './session-watchers.js';
import { type EventSink, HEARTBEAT_MS } from './watcher.js';

/** A consumer's stream, which takes nothing while it is stalled. */
class Stream implements EventSink {
  text = '';
  writableLength = 0;
  ended = false;
  destroyed = false;
  isStalled = false;

  write(chunk: Uint8Array): void {
    this.text += Buffer.from(chunk).toString();
    if (this.isStalled) this.writableLength += chunk.length;
  }

  end(): void {
    this.ended = true;
  }

  destroy(): void {
    this.destroyed = true;
  }

  get generations(): number[] {
    return [...this.text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  }

  get heartbeats(): number {
    return this.text.split('\n').filter((line) => line === ':').length;
  }
}

interface Asked {
  readonly participant?: string;
}

class Hall {
  readonly clock = new FakeClock();
  readonly held = new HeldSessions(this.clock);
  readonly watchers: SessionWatchers;

  constructor(maxWatchers = 10_000) {
    const wishes = {
      peek: (merchant: string): { session: Session } | undefined => {
        const session = this.held.get(merchant);
        return session === undefined ? undefined : { session };
      },
    };
    const handovers = { attach: () => () => undefined };
    const replica = { held: this.held, wishes, handovers } as unknown as SessionReplica;
    this.watchers = new SessionWatchers(replica, this.clock, {
      current: { http: { maxWatchers } } as BrokerConfiguration,
    });
  }

  publish(generation: number, merchant = 'shop'): void {
    hold(this.held, aSession({ merchant, generation }));
  }

  enter(
    generation = 0,
    wish: { merchant?: string; validForMs?: number; mayStay?: () => boolean } = {},
  ): Stream & { leave: () => void } {
    const stream = new Stream();
    const leave = this.watchers.add(stream, { merchant: 'shop', generation, ...wish });
    return Object.assign(stream, { leave });
  }
}

describe('the watchers of a replica', () => {
  it('are sent each session once: not what they hold, nor anything older', async () => {
    const hall = new Hall();
    hall.publish(5);
    const [none, same, ahead] = [hall.enter(), hall.enter(5), hall.enter(6)];
    expect([none, same, ahead].map(({ generations }) => generations)).toEqual([[5], [], []]);
    hall.publish(6);
    hall.publish(9);
    await hall.clock.advance(0);
    expect([none, same, ahead].map(({ generations }) => generations)).toEqual([[5, 6, 9], [6, 9], [9]]);
    expect(none.text).toMatch(/^event: session\nid: 5\ndata: \{"merchant":"shop","generation":5,.*\}\n\nevent: /);
  });

  it('wait for the first session when there is none, and hear of their own merchant only', async () => {
    const hall = new Hall();
    const [shop, other] = [hall.enter(), hall.enter(0, { merchant: 'other' })];
    hall.publish(1);
    await hall.clock.advance(0);
    expect([shop.generations, other.generations]).toEqual([[1], []]);
  });

  it('all hear of a session, in as many goes as it takes, and of the newest only when two follow each other', async () => {
    const hall = new Hall();
    const streams = Array.from({ length: 1_000 }, () => hall.enter());
    hall.publish(1);
    expect(streams.filter(({ generations }) => generations.length > 0).length).toBeLessThan(1_000);
    hall.publish(2);
    await hall.clock.advance(0);
    expect(streams.every(({ generations }) => generations.at(-1) === 2)).toBe(true);
    expect(streams.filter(({ generations }) => generations.length === 1).length).toBeGreaterThan(700);
  });

  it('each hear a heartbeat once per interval, and never all of them at one moment', async () => {
    const hall = new Hall();
    const streams = Array.from({ length: 150 }, () => hall.enter());
    await hall.clock.advance(HEARTBEAT_MS / 15);
    expect(streams.filter(({ heartbeats }) => heartbeats > 0)).toHaveLength(10);
    await hall.clock.advance(HEARTBEAT_MS);
    await hall.clock.advance(HEARTBEAT_MS - HEARTBEAT_MS / 15);
    expect(streams.every(({ heartbeats }) => heartbeats === 2)).toBe(true);
  });

  it('are cut when they have read nothing from one heartbeat to the next', async () => {
    const hall = new Hall();
    const stream = hall.enter();
    stream.isStalled = true;
    await hall.clock.advance(2 * HEARTBEAT_MS);
    expect(stream.destroyed).toBe(false);
    await hall.clock.advance(HEARTBEAT_MS);
    expect(stream.destroyed).toBe(true);
  });

  it('are cut at once when too much is left unread', () => {
    const hall = new Hall();
    const stream = hall.enter();
    stream.writableLength = 65_537;
    hall.publish(1);
    expect([stream.destroyed, stream.text]).toEqual([true, '']);
  });

  it('are bounded in number; who has left frees one place, is sent nothing more, and leaves no timer behind', async () => {
    const hall = new Hall(2);
    const [stream, other] = [hall.enter(), hall.enter()];
    expect(() => hall.watchers.assertRoom()).toThrow(expect.objectContaining({ code: 'overloaded' }));
    for (const left of [stream, stream]) left.leave();
    expect(hall.watchers.count).toBe(1);
    expect(() => hall.watchers.assertRoom()).not.toThrow();
    other.leave();
    hall.publish(1);
    await hall.clock.advance(HEARTBEAT_MS);
    expect(stream.text).toBe('');
    expect(hall.clock.pendingTasks).toBe(0);
  });

  it('come back after half an hour at the latest, not all of them at one moment', async () => {
    const hall = new Hall();
    const streams = Array.from({ length: 150 }, () => hall.enter());
    await hall.clock.advance(24 * 60_000 - HEARTBEAT_MS);
    expect(streams.filter(({ ended }) => ended)).toHaveLength(0);
    await hall.clock.advance(3 * 60_000);
    const atHalf = streams.filter(({ ended }) => ended).length;
    expect(atHalf).toBeGreaterThan(40);
    expect(atHalf).toBeLessThan(110);
    await hall.clock.advance(3 * 60_000 + 2 * HEARTBEAT_MS);
    expect(streams.every(({ ended }) => ended)).toBe(true);
  });

  it('are let go as soon as they would not be let in any more, and sent nothing after that', async () => {
    const hall = new Hall();
    const allowed = new Set(['asked', 'pushed', 'idle', 'stays']);
    const [asked, pushed, idle, stays] = [...allowed].map((name) =>
      hall.enter(0, { mayStay: () => allowed.has(name) }),
    );
    allowed.delete('asked');
    hall.watchers.endLost();
    expect([asked, pushed, idle, stays].map((stream) => stream?.ended)).toEqual([true, false, false, false]);
    allowed.delete('pushed');
    hall.publish(1);
    expect([pushed?.ended, pushed?.generations, stays?.generations]).toEqual([true, [], [1]]);
    allowed.delete('idle');
    await hall.clock.advance(HEARTBEAT_MS);
    expect([idle?.ended, stays?.ended]).toEqual([true, false]);
  });

  it('are let go when their credential ends', async () => {
    const hall = new Hall();
    const stream = hall.enter(0, { validForMs: 60_000 });
    await hall.clock.advance(59_000);
    expect(stream.ended).toBe(false);
    await hall.clock.advance(1_000 + HEARTBEAT_MS);
    expect(stream.ended).toBe(true);
  });

  it('are all let go at shutdown, and no more are let in', () => {
    const hall = new Hall();
    const streams = [hall.enter(), hall.enter(0, { merchant: 'other' })];
    hall.watchers.endAll();
    expect(streams.map(({ ended }) => ended)).toEqual([true, true]);
    expect(() => hall.watchers.assertRoom()).toThrow(expect.objectContaining({ code: 'shutting_down' }));
    hall.watchers.onModuleDestroy();
    expect(hall.clock.pendingTasks).toBe(0);
    expect(() => hall.publish(1)).not.toThrow();
  });
});

describe('Last-Event-ID', () => {
  it('names the generation that the consumer holds', () => {
    expect(generationOfLastEvent('1795212001234')).toBe(1_795_212_001_234);
  });

  it.each([undefined, 'x', '1.5', '9'.repeat(16), '9'.repeat(17), ['1', '2']])(
    'counts as none when it is %j',
    (value) => {
      expect(generationOfLastEvent(value)).toBe(0);
    },
  );
});

describe('a consumer that takes part in hand-overs', () => {
  it('is waited for until it has left two of them unanswered, and is told of the later ones all the same; nobody else is', () => {
    const hall = new Hall();
    const [silent, answering, other] = [new Stream(), new Stream(), new Stream()];
    hall.watchers.add(other, { merchant: 'shop', generation: 0 });
    for (const stream of [silent, answering]) {
      hall.watchers.add(stream, { merchant: 'shop', generation: 0, takesPart: true });
    }
    const asked = ({ text }: Stream): readonly (string | undefined)[] =>
      [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => (JSON.parse(data) as Asked).participant);
    const waitedFor = [1, 2, 3, 4].map((generation) => {
      const participants = hall.watchers.hold({ merchant: 'shop', generation, holdForMs: 1_000 });
      hall.watchers.ready({ merchant: 'shop', participant: asked(answering).at(-1) ?? '' });
      return participants;
    });
    expect(waitedFor).toEqual([2, 2, 1, 1]);
    const name = expect.any(String) as string;
    expect([asked(silent), asked(answering)]).toEqual([
      [name, name, undefined, undefined],
      [name, name, name, name],
    ]);
    expect(asked(other)).toEqual([]);
  });
});
