import fc from 'fast-check';
import { BrokerError } from '#libs/errors';
import { notificationContentOf, sealedBodyOf } from './notification-content.js';

const operation = {
  type: 'PURCHASE',
  coinAmount: 100,
  merchantId: 'm-1',
  ecomOperationId: 'e-1',
  status: 'SUCCESS',
  transactionCurrency: '980',
  hppOrderId: 'h-1',
  transactionResponseInfo: { actionCode: '0' },
};
const order = {
  ecomOrderId: 'o-1',
  coinAmount: 100,
  merchantId: 'm-1',
  statusUrl: 'https://bank/s',
  redirectUrl: 'https://bank/r',
  notificationUrl: 'https://shop/n',
  notificationEncryption: true,
  hppOrderId: 'h-1',
  merchantRequestId: 'r-1',
  paymentMethods: ['CARD'],
  orderStatus: 'SUCCESS',
  operation,
};

function faultIn(value: unknown): unknown {
  try {
    notificationContentOf(typeof value === 'string' ? value : JSON.stringify(value));
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(BrokerError);
    expect((error as BrokerError).code).toBe('notification_invalid');
    return (error as BrokerError).publicDetail;
  }
}

const without = (object: object, name: string): object =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));

describe('the content of a notification', () => {
  it('is an order with its operation, or an operation by itself', () => {
    expect(notificationContentOf(JSON.stringify(order))).toEqual({ kind: 'hosted_page', content: order });
    expect(notificationContentOf(JSON.stringify(operation))).toEqual({
      kind: 'direct_payment',
      content: operation,
    });
  });

  it('keeps members that nobody has heard of, wherever they are', () => {
    const novel = { ...order, novel: [{ a: null }], operation: { ...operation, novel: 1.5 } };
    expect(notificationContentOf(JSON.stringify(novel)).content).toEqual(novel);
  });

  it('may lack what nobody depends on, or have null there', () => {
    const sparse = { ...without(order, 'redirectUrl'), statusUrl: null, notificationEncryption: 'true' };
    expect(faultIn(sparse)).toBeUndefined();
    expect(faultIn({ ...operation, hppOrderId: '', rrn: null })).toBeUndefined();
  });

  it.each(['hppOrderId', 'ecomOrderId', 'merchantRequestId', 'merchantId', 'orderStatus', 'coinAmount'])(
    'is none when the order has no %s',
    (name) => {
      expect(faultIn(without(order, name))).toContain(`${name} must be`);
    },
  );

  it.each(['type', 'ecomOperationId', 'status', 'coinAmount', 'merchantId'])(
    'is none when the operation has no %s',
    (name) => {
      expect(faultIn({ ...order, operation: without(operation, name) })).toContain(`operation.${name} must be`);
      if (name !== 'ecomOperationId') expect(faultIn(without(operation, name))).toContain(`${name} must be`);
    },
  );

  it.each<[string, unknown, string]>([
    ['no JSON', 'canary{', 'it is no JSON object'],
    ['a list', [order], 'it is no JSON object'],
    ['an order whose operation is a text', { ...order, operation: 'canary' }, 'operation must be an object'],
    ['an amount as a text', { ...operation, coinAmount: 'canary' }, 'coinAmount must be a number'],
    [
      'an amount that would be passed on as another',
      JSON.stringify(operation).replace('100', '9007199254740993'),
      'coinAmount must be',
    ],
    ['a status of blanks', { ...operation, status: ' ' }, 'status must be a text that is not empty'],
    ['methods that are no list', { ...order, paymentMethods: 'canary' }, 'paymentMethods must be a list of texts'],
  ])('is none, and its fault is named without a value: %s', (_what, value, fault) => {
    expect(faultIn(value)).toContain(fault);
    expect(faultIn(value)).not.toContain('canary');
  });

  it('is judged whatever it is', () => {
    const member = fc.constantFrom(...Object.keys(order), ...Object.keys(operation), '__proto__');
    const notification = fc.dictionary(member, fc.oneof(fc.jsonValue(), fc.constant(operation)));
    fc.assert(
      fc.property(fc.oneof(notification, fc.jsonValue(), fc.string()), (value) => {
        expect(['string', 'undefined']).toContain(typeof faultIn(value));
      }),
    );
  });
});

const JWE = 'eyJhbGciOiJFQ0RILUVTK0EyNTZLVyJ9.a2V5.aXY.Y2lwaGVydGV4dA.dGFn';

describe('a notification that was received', () => {
  it.each<[string, Record<string, unknown>, string, string | undefined]>([
    ['sealed by its header', { 'x-encrypted_body': 'true' }, JWE, JWE],
    ['sealed by its form, whatever the headers have become', { 'content-type': 'application/json' }, JWE, JWE],
    ['sealed with a line end after it', {}, `${JWE}\r\n`, JWE],
    ['to be opened by its header, also if nothing of the kind is there', { 'x-encrypted_body': 'true' }, '{}', '{}'],
    ['in clear where it is JSON', { 'content-type': 'application/json' }, '{"a":"b.c.d.e.f"}', undefined],
    ['in clear where it is nothing', {}, '', undefined],
  ])('is %s', (...[, headers, body, sealed]) => {
    expect(sealedBodyOf({ headers, body })).toBe(sealed);
  });

  it.each<[string, Record<string, unknown>]>([
    ['a number', { age: 5 }],
    ['too many', Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`h${index}`, 'x']))],
  ])('has no headers that are none: %s', (_what, headers) => {
    expect(() => sealedBodyOf({ headers, body: '{}' })).toThrow('headers: must be');
  });
});
