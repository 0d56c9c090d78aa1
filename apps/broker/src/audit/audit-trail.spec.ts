import type { BrokerConfiguration } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import { FakeClock } from '#libs/testing';
import type { AuditRecord } from '#libs/telemetry';
import { AuditTrail } from './audit-trail.js';

describe('the audit trail', () => {
  let records: AuditRecord[];
  let clock: FakeClock;
  let trail: AuditTrail;

  beforeEach(() => {
    records = [];
    clock = new FakeClock();
    const log = { append: (record: AuditRecord): void => void records.push(record) };
    trail = new AuditTrail(
      log,
      { current: { audit: { destination: 'none', readEvery: 10 } } as BrokerConfiguration },
      clock,
    );
  });

  const read = (times: number, generation = 1, caller = 'checkout'): void => {
    for (let count = 0; count < times; count += 1) trail.read({ caller, merchant: 'shop', generation });
  };

  it('records every read in the end, by the records that stand for them', () => {
    read(25, 1);
    expect(records.map(({ count }) => count)).toEqual([undefined, 10, 10]);
    read(7, 2);
    read(3, 1, 'reports');
    read(1, 3);
    const told = (generation: number, caller: string): number =>
      records
        .filter((record) => record.generation === generation && record.caller === caller)
        .reduce((sum, { count = 1 }) => sum + count, 0);
    expect([told(1, 'checkout'), told(2, 'checkout'), told(3, 'checkout'), told(1, 'reports')]).toEqual([25, 7, 1, 1]);
  });

  it('records the reads and the refusals that are left when the app has closed, once', () => {
    read(25, 1);
    read(7, 2);
    read(1, 1, 'reports');
    for (let count = 0; count < 103; count += 1) {
      trail.refused({ action: 'GET /', reason: 'unauthenticated', requestId: `request-${count}` });
    }
    records = [];
    trail.onApplicationShutdown();
    trail.onApplicationShutdown();
    expect(records).toEqual([
      { action: 'session.read', outcome: 'allowed', caller: 'checkout', merchant: 'shop', generation: 2, count: 6 },
      { action: 'GET /', outcome: 'refused', reason: 'unauthenticated', requestId: 'request-102', count: 3 },
    ]);
  });

  it('records in full what known callers did not get, and leaves what they got to whoever asks', async () => {
    const record = { action: 'payload.decrypt', caller: 'checkout', merchant: 'shop' };
    for (let count = 0; count < 150; count += 1) {
      const attempt = trail.attempt(record, () => Promise.reject(new BrokerError('jwe_not_opened')));
      await expect(attempt).rejects.toMatchObject({ code: 'jwe_not_opened' });
    }
    expect(records).toHaveLength(150);
    expect(records.at(-1)).toEqual({ ...record, outcome: 'refused', reason: 'jwe_not_opened' });
    await expect(trail.attempt(record, () => Promise.reject(new TypeError('x')))).rejects.toThrow('x');
    expect(records.at(-1)).toMatchObject({ reason: 'internal_error' });
    expect(await trail.attempt(record, () => Promise.resolve(5))).toBe(5);
    expect(records).toHaveLength(151);
  });

  it('records refusals at a bounded rate, and how many it has left out', async () => {
    for (let count = 0; count < 150; count += 1) trail.refused({ action: 'request', reason: 'unauthenticated' });
    expect(records).toHaveLength(100);
    await clock.advance(1_000);
    trail.refused({ action: 'request', reason: 'unauthenticated' });
    expect(records.at(-1)).toMatchObject({ outcome: 'refused', count: 51 });
  });
});
