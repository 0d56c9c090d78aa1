import type { SessionEvent } from '#libs/session';
import { FakeClock } from '#libs/testing';
import { DeathReports, MAX_CONSUMERS, MAX_REASONS, QUIET_IS_TOLD_FOR_MS } from './death-reports.js';

type Rejected = Extract<SessionEvent, { event: 'session_rejected' }>;

class Rig {
  readonly clock = new FakeClock();
  readonly reports = new DeathReports(this.clock);

  duel(isPresent: boolean, quietMs = 0): void {
    this.reports.emit({ event: 'foreign_authorizer', merchant: 'shop', generation: 4, isPresent, quietMs });
  }

  reported(consumer: string, facts: Partial<Rejected> = {}): void {
    const event = { event: 'session_rejected', merchant: 'shop', generation: 4, isFirst: true } as const;
    this.reports.emit({ ...event, result: 'cooled_down', consumer, ...facts });
  }

  adopted(generation: number): void {
    const event = { event: 'session_adopted', merchant: 'shop', source: 'store', serverKeyChanged: false } as const;
    this.reports.emit({ ...event, generation });
  }

  get quietMs(): number | undefined {
    return this.reports.quietMs('shop');
  }
}

describe('a duel that has gone quiet', () => {
  it('is remembered for an hour, with how long nobody has reported anything, and with nothing while it lasts', async () => {
    const rig = new Rig();
    expect(rig.quietMs).toBeUndefined();
    rig.duel(true);
    expect(rig.quietMs).toBeUndefined();
    rig.duel(false, 180_000);
    await rig.clock.advance(QUIET_IS_TOLD_FOR_MS - 1);
    expect(rig.quietMs).toBe(QUIET_IS_TOLD_FOR_MS - 1 + 180_000);
    await rig.clock.advance(1);
    expect(rig.quietMs).toBeUndefined();
  });

  it('is forgotten when it begins again', () => {
    const rig = new Rig();
    rig.duel(false);
    rig.duel(true);
    expect(rig.quietMs).toBeUndefined();
  });

  it('is not quiet while dead sessions are reported, and late reports of old ones do not count', async () => {
    const rig = new Rig();
    rig.reported('checkout');
    expect(rig.quietMs).toBeUndefined();
    rig.duel(false, 60_000);
    rig.reported('checkout', { result: 'already_newer' });
    expect(rig.quietMs).toBe(60_000);
    await rig.clock.advance(QUIET_IS_TOLD_FOR_MS - 1);
    rig.reported('checkout', { result: 'renewed' });
    expect(rig.quietMs).toBe(0);
    await rig.clock.advance(QUIET_IS_TOLD_FOR_MS - 1);
    expect(rig.quietMs).toBe(QUIET_IS_TOLD_FOR_MS - 1);
  });
});

describe('the consumers that reported a session', () => {
  it('are named once each, a bounded number of them, for that session alone', () => {
    const rig = new Rig();
    expect(rig.reports.consumersOf('shop', 4)).toEqual([]);
    for (const consumer of ['checkout', 'refunds', 'checkout']) rig.reported(consumer);
    expect(rig.reports.consumersOf('shop', 4)).toEqual(['checkout', 'refunds']);
    for (let index = 0; index < 9; index += 1) rig.reported(`consumer-${index}`);
    expect(rig.reports.consumersOf('shop', 4)).toHaveLength(MAX_CONSUMERS);
    rig.adopted(4);
    expect(rig.reports.consumersOf('shop', 4)).toHaveLength(MAX_CONSUMERS);
    rig.adopted(6);
    expect(rig.reports.consumersOf('shop', 4)).toEqual([]);
    rig.reported('kiosk', { generation: 6 });
    expect([rig.reports.consumersOf('shop', 6), rig.reports.consumersOf('shop', undefined)]).toEqual([['kiosk'], []]);
  });

  it('come with the codes that they met, a bounded number of them, and with nothing that is no code', () => {
    const rig = new Rig();
    rig.reported('checkout');
    expect(rig.reports.reasonsOf('shop', 4)).toEqual([]);
    for (const reason of ['b_used_token', 'b_used_token', 'two words', '<b>', 'x'.repeat(65)]) {
      rig.reported('checkout', { reason });
    }
    expect(rig.reports.reasonsOf('shop', 4)).toEqual(['b_used_token']);
    for (let index = 0; index < 9; index += 1) rig.reported('checkout', { reason: `b_code_${index}` });
    expect(rig.reports.reasonsOf('shop', 4)).toHaveLength(MAX_REASONS);
    expect(rig.reports.reasonsOf('shop', 5)).toEqual([]);
    rig.adopted(6);
    expect(rig.reports.reasonsOf('shop', 4)).toEqual([]);
  });
});
