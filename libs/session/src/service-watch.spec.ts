import { aSession, FakeClock, RecordedEvents } from '#libs/testing';
import type { Cause } from './cause.js';
import { HeldSessions } from './held-sessions.js';
import type { StoreTrouble } from './merchant-condition.js';
import { ServiceWatch } from './service-watch.js';

const SECOND = 1_000;

class Watched {
  readonly clock = new FakeClock();
  readonly held = new HeldSessions(this.clock);
  readonly events = new RecordedEvents();
  trouble: StoreTrouble | undefined;
  goesAlone = false;
  causeFor = (_merchant: string): Cause => ({ code: 'refused', msgCode: 'b_code', at: this.clock.now() });
  readonly watch = new ServiceWatch({
    held: this.held,
    clock: this.clock,
    events: this.events,
    storeTrouble: () => this.trouble,
    mayGoAlone: () => this.goesAlone,
    causeFor: (merchant) => this.causeFor(merchant),
  });

  holding(...merchants: readonly string[]): this {
    for (const merchant of merchants) this.held.adopt(aSession({ merchant }), 0);
    return this;
  }

  /** A look every second until nothing is left of the merchant's session, and for a while longer. */
  async untilItsEnd(merchant: string): Promise<void> {
    await this.passing(this.held.facts(merchant).leftMs + 20 * SECOND);
  }

  async passing(ms: number): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += SECOND) {
      await this.clock.advance(SECOND);
      this.watch.look();
    }
  }

  get told(): readonly string[] {
    return this.events.all.map((event) => `${event.event} ${'merchants' in event ? event.merchants.join(',') : ''}`);
  }
}

describe('the watch over what is served', () => {
  it('tells once that a session is due and the store holds up its renewal, that it has ended, and that it is served again', async () => {
    const watched = new Watched().holding('shop');
    watched.trouble = 'silent';
    await watched.passing(watched.held.untilRenewalMs('shop') - 2 * SECOND);
    expect(watched.told).toEqual([]);
    await watched.untilItsEnd('shop');
    expect(watched.told).toEqual(['renewal_blocked shop', 'service_ended shop']);
    expect(watched.events.of('renewal_blocked')[0]?.cause).toEqual({ code: 'store_silent', effect: 'not_renewed' });
    expect(watched.events.of('service_ended')[0]?.cause).toMatchObject({ code: 'refused', msgCode: 'b_code' });
    watched.held.adopt(aSession({ generation: 99 }), 0);
    await watched.passing(20 * SECOND);
    expect(watched.told.slice(2)).toEqual(['service_resumed shop']);
  });

  it('tells of nothing but the end when the store is well, or when the replica renews without it', async () => {
    for (const change of [{ trouble: undefined }, { trouble: 'silent' as const, goesAlone: true }]) {
      const watched = Object.assign(new Watched().holding('shop'), change);
      await watched.untilItsEnd('shop');
      expect(watched.told).toEqual(['service_ended shop']);
    }
  });

  it('tells of a thousand in two events at most, with the cause if it is the same', async () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => `shop-${index}`);
    const watched = new Watched().holding(...ids);
    await watched.untilItsEnd('shop-0');
    const ended = watched.events.of('service_ended');
    expect(ended.length).toBeLessThanOrEqual(2);
    expect(ended.flatMap(({ merchants }) => merchants).length).toBe(1_000);
    expect(ended[0]?.cause).toMatchObject({ code: 'refused', msgCode: 'b_code' });
  });

  it('names no cause where they differ', async () => {
    const watched = new Watched().holding('shop', 'kiosk');
    watched.causeFor = (merchant) => ({ code: 'refused', msgCode: `b_${merchant}` });
    await watched.untilItsEnd('shop');
    expect(watched.events.of('service_ended')).toEqual([{ event: 'service_ended', merchants: ['shop', 'kiosk'] }]);
  });

  it('tells nothing of a merchant that was removed', async () => {
    const watched = new Watched().holding('shop');
    watched.trouble = 'silent';
    watched.watch.forget('shop');
    await watched.untilItsEnd('shop');
    expect(watched.told).toEqual([]);
  });
});
