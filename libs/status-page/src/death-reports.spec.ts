import type { SessionEvent } from '#libs/session';
import { DeathReports, MAX_CONSUMERS, MAX_REASONS } from './death-reports.js';

type Rejected = Extract<SessionEvent, { event: 'session_rejected' }>;

class Rig {
  readonly reports = new DeathReports();

  reported(consumer: string, facts: Partial<Rejected> = {}): void {
    const event = { event: 'session_rejected', merchant: 'shop', generation: 4, isFirst: true } as const;
    this.reports.emit({ ...event, result: 'cooled_down', consumer, ...facts });
  }

  by(generation: number | undefined): readonly string[] {
    return this.reports.of('shop', generation).reportedBy ?? [];
  }

  as(generation: number): readonly string[] {
    return this.reports.of('shop', generation).reportedAs ?? [];
  }

  adopted(generation: number): void {
    const event = {
      event: 'session_adopted',
      merchant: 'shop',
      source: 'store',
      ageMs: 0,
      serverKeyChanged: false,
    } as const;
    this.reports.emit({ ...event, generation });
  }
}

describe('the consumers that reported a session', () => {
  it('are named once each, a bounded number of them, for that session alone', () => {
    const rig = new Rig();
    expect(rig.by(4)).toEqual([]);
    for (const consumer of ['checkout', 'refunds', 'checkout']) rig.reported(consumer);
    expect(rig.by(4)).toEqual(['checkout', 'refunds']);
    for (let index = 0; index < 9; index += 1) rig.reported(`consumer-${index}`);
    expect(rig.by(4)).toHaveLength(MAX_CONSUMERS);
    rig.adopted(4);
    expect(rig.by(4)).toHaveLength(MAX_CONSUMERS);
    rig.adopted(6);
    expect(rig.by(4)).toEqual([]);
    rig.reported('kiosk', { generation: 6 });
    expect([rig.by(6), rig.by(undefined)]).toEqual([['kiosk'], []]);
  });

  it('come with the codes that they met, a bounded number of them, and with nothing that is no code', () => {
    const rig = new Rig();
    rig.reported('checkout');
    expect(rig.as(4)).toEqual([]);
    for (const reason of ['b_used_token', 'b_used_token', 'two words', '<b>', 'x'.repeat(65)]) {
      rig.reported('checkout', { reason });
    }
    expect(rig.as(4)).toEqual(['b_used_token']);
    for (let index = 0; index < 9; index += 1) rig.reported('checkout', { reason: `b_code_${index}` });
    expect(rig.as(4)).toHaveLength(MAX_REASONS);
    expect(rig.as(5)).toEqual([]);
    rig.adopted(6);
    expect(rig.as(4)).toEqual([]);
  });
});
