import type { AuditRecord } from '#libs/telemetry';
import { FakeClock } from '#libs/testing';
import { EgressAudit, type RefusedCaller, type SentPayment } from './egress-audit.js';

const SENT: SentPayment = {
  client: 'till',
  merchant: 'shop',
  route: '/ecom/execute_request/**',
  generation: 7,
  outcome: 'unknown',
  status: 504,
  requestId: 'payment-1',
};
const REFUSED: RefusedCaller = {
  action: 'payment.send',
  route: '/ecom/execute_request/**',
  reason: 'unauthenticated',
  requestId: 'probe',
};

describe('the audit of the egress', () => {
  let records: AuditRecord[];
  let clock: FakeClock;
  let audit: EgressAudit;

  beforeEach(() => {
    records = [];
    clock = new FakeClock();
    audit = new EgressAudit({ append: (record) => void records.push(record) }, clock);
  });

  it('has nothing in it of what it was not asked to record', () => {
    audit.sent({ ...SENT, authorization: 'Bearer secret', path: '/ecom/secret' } as SentPayment);
    audit.refused({ ...REFUSED, token: 'secret' } as RefusedCaller);
    expect(JSON.stringify(records)).not.toContain('secret');
  });

  it('records what a changed configuration did, and one that was not taken', () => {
    audit.configurationRead({ isTaken: true, count: 3, added: 2, removed: 1 });
    audit.configurationRead({ isTaken: false });
    expect(records).toEqual([
      { action: 'configuration.load', outcome: 'allowed', count: 3, added: 2, removed: 1 },
      { action: 'configuration.change', outcome: 'refused', reason: 'configuration_invalid' },
    ]);
  });

  it('records refusals at a bounded rate, and how many it has left out', async () => {
    for (let count = 0; count < 150; count += 1) audit.refused(REFUSED);
    expect(records).toHaveLength(100);
    expect(records[0]).toEqual({ ...REFUSED, outcome: 'refused' });
    await clock.advance(1_000);
    audit.refused({ ...REFUSED, requestId: 'last' });
    expect(records.at(-1)).toEqual({ ...REFUSED, requestId: 'last', outcome: 'refused', count: 51 });
  });

  it('records the refusals that are left when the egress has closed, once', () => {
    for (let count = 0; count < 103; count += 1) audit.refused(REFUSED);
    records.length = 0;
    audit.close();
    audit.close();
    expect(records).toEqual([{ ...REFUSED, outcome: 'refused', count: 3 }]);
  });
});
