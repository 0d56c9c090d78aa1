import { describeWith } from '#libs/testing';
import { startFleet } from '../bench/handover-fleet.js';
import { payThroughRenewals } from '../bench/handover-payments.js';

describeWith('redis-server', 'payments over renewals that are handed over', () => {
  it('are neither refused, repeated, lost nor doubled, and wait while the session is replaced', async () => {
    // Long enough for a busy machine: a hand-over that ends before all have heard of it protects nobody.
    const timing = { lifetimeMs: 20_000, paymentMs: 150, createMs: 50 };
    await using fleet = await startFleet({ replicas: 3, handover: '4s', ...timing });
    const report = await payThroughRenewals(fleet, { perSecond: 20, renewals: 2, maxMs: 120_000 });
    expect(report.failed).toEqual([]);
    expect(report.renewals).toBeGreaterThanOrEqual(2);
    expect(report.ledger).toEqual({ refused: 0, repeated: 0, lost: 0, doubled: 0 });
    expect(report.holds.length).toBeGreaterThanOrEqual(6);
  });
});
