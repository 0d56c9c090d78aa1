import { FakeClock } from '#libs/testing';
import { Ledger, totalsOf, type LedgerFilter } from './ledger.js';

const all: LedgerFilter = {
  merchant: undefined,
  operation: undefined,
  outcome: undefined,
  merchantRequestId: undefined,
};
const claim = (merchantRequestId: string) => ({ merchant: 'shop', operation: 'refund', merchantRequestId }) as const;

describe('the ledger', () => {
  let ledger: Ledger;

  beforeEach(() => {
    ledger = new Ledger(new FakeClock(), 2);
  });

  it('takes the same id of another merchant or operation as another payment', () => {
    ledger.arrive(claim('one')).accept();
    ledger.arrive({ ...claim('one'), merchant: 'other' }).accept();
    expect(totalsOf(ledger.list(all))).toMatchObject({ payments: 2, repeated: 0, doubled: 0 });
  });

  it('has a payment in flight until each of its requests has ended', () => {
    const first = ledger.arrive(claim('one'));
    const second = ledger.arrive(claim('one'));
    first.refuse('drop');
    expect(ledger.list(all)).toMatchObject([{ outcome: 'in_flight' }]);
    second.refuse('drop');
    expect(ledger.list(all)).toMatchObject([{ outcome: 'refused', refusals: { drop: 2 } }]);
  });

  it('forgets the oldest payment when there are too many, and says how many it forgot', () => {
    for (const id of ['one', 'two', 'three']) ledger.arrive(claim(id)).accept();
    expect(ledger.list(all).map(({ merchantRequestId }) => merchantRequestId)).toEqual(['two', 'three']);
    expect(ledger.forgotten).toBe(1);
  });

  it('starts anew after a reset', () => {
    ledger.arrive({ operation: 'refund' }).refuse('b_unknown_device');
    ledger.arrive(claim('one')).accept();
    ledger.reset();
    expect([ledger.list(all), ledger.unidentified, ledger.forgotten]).toEqual([[], {}, 0]);
  });
});
