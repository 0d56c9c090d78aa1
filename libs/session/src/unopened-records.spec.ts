import { BrokerError } from '#libs/errors';
import { aSession, FakeClock, RecordedEvents } from '#libs/testing';
import { HeldSessions } from './held-sessions.js';
import type { ReplicaSignal } from './ports/session-store.js';
import { UnopenedRecords } from './unopened-records.js';

/** One replica that holds a session of the generation, if it holds any. */
class Opening {
  readonly held = new HeldSessions(new FakeClock());
  readonly events = new RecordedEvents();
  readonly told: ReplicaSignal[] = [];
  readonly untold: unknown[] = [];
  failure: Error | undefined;
  readonly unopened = new UnopenedRecords({
    held: this.held,
    events: this.events,
    store: {
      announce: async (signal) => {
        if (this.failure !== undefined) throw this.failure;
        this.told.push(signal);
        return undefined;
      },
    },
    onUntold: (error) => this.untold.push(error),
  });

  constructor(generation = 0) {
    if (generation > 0) this.held.adopt(aSession({ generation }), 0);
  }

  get asked(): number | undefined {
    return this.unopened.wanted(['shop'])[0]?.known;
  }
}

describe('stored sessions that do not open', () => {
  it('are told of once for each generation, and reported once', () => {
    const opening = new Opening(10);
    expect([12, 12, 11, 14].map((generation) => opening.unopened.found('shop', generation))).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect(opening.told).toEqual([
      { kind: 'unopenable', merchant: 'shop', generation: 12 },
      { kind: 'unopenable', merchant: 'shop', generation: 14 },
    ]);
    expect(opening.events.of('record_unopenable').map(({ generation }) => generation)).toEqual([12, 14]);
  });

  it.each([12, 13])('are not asked of others by a replica that holds them, or a newer one: %s', (generation) => {
    const opening = new Opening(generation);
    expect(opening.unopened.found('shop', 12)).toBe(false);
    expect(opening.told).toEqual([]);
  });

  it.each([
    ['that holds it', 12, true],
    ['that holds an older one', 10, false],
    ['that holds a newer one', 14, false],
    ['that holds none', 0, false],
  ])('are read in full after the word of another by a replica %s, once', (_name, generation, isRead) => {
    const opening = new Opening(generation);
    expect(opening.unopened.heard('shop', 12)).toBe(isRead);
    const wanted = opening.unopened.wanted(['shop']);
    expect(wanted).toEqual([{ merchant: 'shop', known: isRead ? 0 : generation }]);
    opening.unopened.answered(wanted);
    expect(opening.asked).toBe(generation);
  });

  it('stay in doubt when the doubt arose while what was not asked for in full was on its way', () => {
    const opening = new Opening(12);
    const wanted = opening.unopened.wanted(['shop']);
    opening.unopened.heard('shop', 12);
    opening.unopened.answered(wanted);
    expect(opening.asked).toBe(0);
  });

  it('are read in full again by plan until what was told of, or a newer one, is held', () => {
    const opening = new Opening(10);
    opening.unopened.looksAgain('shop');
    expect(opening.asked).toBe(10);
    opening.unopened.found('shop', 12);
    expect(opening.asked).toBe(12);
    opening.unopened.looksAgain('shop');
    expect(opening.asked).toBe(0);
    opening.unopened.answered(opening.unopened.wanted(['shop']));
    opening.held.adopt(aSession({ generation: 12 }), 0);
    opening.unopened.looksAgain('shop');
    expect(opening.asked).toBe(12);
  });

  it('are forgotten with their merchant', () => {
    const opening = new Opening(12);
    opening.unopened.heard('shop', 12);
    opening.unopened.found('shop', 14);
    opening.unopened.forget('shop');
    expect(opening.asked).toBe(14);
    expect(opening.unopened.found('shop', 14)).toBe(true);
  });

  it('of which nobody could be told are left to whoever has to answer for it', async () => {
    const opening = new Opening();
    opening.failure = new BrokerError('store_unavailable');
    opening.unopened.found('shop', 12);
    await new FakeClock().settle();
    expect(opening.untold).toEqual([opening.failure]);
  });
});
