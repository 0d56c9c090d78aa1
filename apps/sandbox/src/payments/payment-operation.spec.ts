import { instantFromEpochMs } from '#libs/clock';
import { newOperation } from './new-operation.js';
import { directMembers, operationMembers, type OperationStatus, type PaymentOperation } from './payment-operation.js';

const at = instantFromEpochMs(Date.parse('2026-03-18T12:00:00.560Z'));
const purchase = (status: OperationStatus): PaymentOperation =>
  newOperation(
    {
      type: 'PURCHASE',
      merchant: 'shop',
      merchantId: 'terminal-1',
      merchantRequestId: 'one',
      coinAmount: 100,
      status,
      card: { cardNumberMask: '4111********1111', approvalCode: '123456', fate: 'pays', redirect3dsUrl: undefined },
    },
    at,
  );

describe('an operation, as reported', () => {
  const statuses: readonly OperationStatus[] = [
    'SUCCESS',
    'FAIL',
    'PENDING',
    'REQUIRED_3DS',
    'DESIRED_THREEDS_MODE_ERROR',
  ];

  it.each(statuses)('has no member that is null or undefined as %s, and only texts in its response info', (status) => {
    const original = purchase('SUCCESS');
    for (const operation of [purchase(status), { ...purchase(status), type: 'REFUND', original } as const]) {
      const told = { ...directMembers(operation), ...operationMembers(operation) };
      expect(Object.values(told).filter((value) => value === null || value === undefined)).toEqual([]);
      const info = Object.values(told['transactionResponseInfo'] as object);
      expect(info.every((value) => typeof value === 'string')).toBe(true);
    }
  });

  it('has its creation under both published names', () => {
    expect(directMembers(purchase('PENDING'))).toMatchObject({
      createDateTime: '2026-03-18 12:00:00.560+00:00',
      creationDateTime: '2026-03-18 12:00:00.560+00:00',
    });
  });

  it('has an approval code only once it was approved', () => {
    expect(directMembers(purchase('PENDING'))).not.toHaveProperty('approvalCode');
    expect(directMembers(purchase('SUCCESS'))).toMatchObject({ approvalCode: '123456' });
  });
});
