import type { PaymentOperation } from './payment-operation.js';
import { newOperation } from './new-operation.js';
import { PaymentBook } from './payment-book.js';
import { FakeClock } from '#libs/testing';

const operation = (merchantRequestId: string): PaymentOperation =>
  newOperation(
    { type: 'REFUND', merchant: 'shop', merchantId: 'terminal-1', merchantRequestId, coinAmount: 1, status: 'PENDING' },
    new FakeClock().now(),
  );

describe('the book of payments', () => {
  it('knows which ids a merchant has used for which kind of request', () => {
    const book = new PaymentBook(10);
    book.addOperation(operation('one'));
    expect(book.isUsed('REFUND', { merchant: 'shop', merchantRequestId: 'one' })).toBe(true);
    expect(book.isUsed('PURCHASE', { merchant: 'shop', merchantRequestId: 'one' })).toBe(false);
    expect(book.isUsed('REFUND', { merchant: 'other', merchantRequestId: 'one' })).toBe(false);
  });

  it('forgets the oldest operation of too many', () => {
    const book = new PaymentBook(2);
    const [first, ...others] = ['one', 'two', 'three'].map(operation);
    for (const added of [first, ...others]) if (added !== undefined) book.addOperation(added);
    expect(book.operation(first?.operationId ?? '')).toBeUndefined();
    expect(others.every(({ operationId }) => book.operation(operationId) !== undefined)).toBe(true);
  });

  it('is empty after a reset', () => {
    const book = new PaymentBook(2);
    const added = operation('one');
    book.addOperation(added);
    book.reset();
    expect(book.operation(added.operationId)).toBeUndefined();
    expect(book.isUsed('REFUND', added)).toBe(false);
  });
});
