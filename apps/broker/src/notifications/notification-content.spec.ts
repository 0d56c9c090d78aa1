import fc from 'fast-check';
import { BrokerError } from '#libs/errors';
import { type ClientKey, generateClientKey, importClientKey } from '#libs/jwe';
import type { Sighting } from '#libs/session';
import { MemorySessionStore } from '#libs/store';
import type { Logger } from '#libs/telemetry';
import { FakeClock } from '#libs/testing';
import { notificationContentOf } from './notification-content.js';
import { sealedBodyOf } from './received-notification.js';
import { Repetitions } from './repetitions.service.js';
import type { ConfiguredMerchants } from '../renewal/configured-merchants.js';

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
    const about = ['PURCHASE', 'e-1', 'SUCCESS'];
    expect(notificationContentOf(JSON.stringify(order))).toEqual({ kind: 'hosted_page', content: order, about });
    expect(notificationContentOf(JSON.stringify(operation))).toEqual({
      kind: 'direct_payment',
      content: operation,
      about,
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
    ['nothing', '', 'it is no JSON object'],
    ['an error of the gateway', { msgCode: 'canary' }, 'it has neither an operation nor the members of one'],
    ['an order whose operation is a text', { ...order, operation: 'canary' }, 'operation must be an object'],
    ['an amount as a text', { ...operation, coinAmount: 'canary' }, 'coinAmount must be a number'],
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
  it.each<[string, Record<string, unknown>, string]>([
    ['by its header', { 'x-encrypted_body': 'true' }, JWE],
    ['by its header in another case', { 'X-Encrypted_Body': ' TRUE ' }, JWE],
    ['by one of several values', { 'x-encrypted_body': ['true'] }, JWE],
    ['by its form, as text/plain', { 'content-type': 'text/plain' }, JWE],
    ['by its form, whatever the headers have become', { 'content-type': 'application/json' }, JWE],
    ['with a line end after it', {}, `${JWE}\r\n`],
  ])('is sealed: %s', (_how, headers, body) => {
    expect(sealedBodyOf({ headers, body })).toBe(JWE);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['JSON', { 'content-type': 'application/json' }, '{"a":"b.c.d.e.f"}'],
    ['JSON that says so', { 'x-encrypted_body': 'false' }, '{}'],
    ['nothing', {}, ''],
  ])('is in clear: %s', (_what, headers, body) => {
    expect(sealedBodyOf({ headers, body })).toBeUndefined();
  });

  it('is to be opened when its header says so, also if nothing of the kind is there', () => {
    expect(sealedBodyOf({ headers: { 'x-encrypted_body': 'true' }, body: '{}' })).toBe('{}');
  });

  it.each<[string, Record<string, unknown>]>([
    ['a number', { age: 5 }],
    ['a list of numbers', { age: [5] }],
    ['too many', Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`h${index}`, 'x']))],
  ])('has no headers that are none: %s', (_what, headers) => {
    expect(() => sealedBodyOf({ headers, body: '{}' })).toThrow('headers: must be');
  });
});

const ABOUT = ['REFUND', 'e-1', 'SUCCESS'];

describe('notifications that come again', () => {
  let keys: readonly ClientKey[];
  let store: MemorySessionStore;
  let asked: Sighting[];
  let lines: string[];
  let failure: Error | undefined;

  const replica = (): Repetitions => {
    const sightings = {
      firstSeen: (sighting: Sighting): Promise<boolean> => {
        asked.push(sighting);
        return failure === undefined ? store.firstSeen(sighting) : Promise.reject(failure);
      },
    };
    const note = (_facts: object, line: string): number => lines.push(line);
    const logger = { info: note, warn: note } as unknown as Logger;
    return new Repetitions(sightings, { clientKeysOf: () => keys } as unknown as ConfiguredMerchants, logger);
  };
  const aKey = async (): Promise<ClientKey> => importClientKey((await generateClientKey()).privateJwk);

  beforeEach(async () => {
    keys = [await aKey()];
    store = new MemorySessionStore({ clock: new FakeClock() });
    [asked, lines, failure] = [[], [], undefined];
  });

  it('are told by whichever replica has them next, and for a day', async () => {
    expect(await replica().isRepeated('shop', ABOUT)).toBe(false);
    expect(await replica().isRepeated('shop', ABOUT)).toBe(true);
    expect(await replica().isRepeated('shop', ['REFUND', 'e-1', 'FAIL'])).toBe(false);
    expect(asked.map(({ forMs }) => forMs)).toEqual([86_400_000, 86_400_000, 86_400_000]);
  });

  it('are known to the store by nothing that says what they are about', async () => {
    await replica().isRepeated('shop', ABOUT);
    expect(asked[0]?.names).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
    expect(JSON.stringify(asked)).not.toContain('e-1');
  });

  it('are known again through a change of keys', async () => {
    await replica().isRepeated('shop', ABOUT);
    keys = [await aKey(), ...keys];
    expect(await replica().isRepeated('shop', ABOUT)).toBe(true);
    keys = keys.slice(0, 1);
    expect(await replica().isRepeated('shop', ABOUT)).toBe(true);
  });

  it('cannot be told while the store is silent or refuses, which is said once', async () => {
    const repetitions = replica();
    for (const code of ['store_unavailable', 'store_refused'] as const) {
      failure = new BrokerError(code);
      expect(await repetitions.isRepeated('shop', ABOUT)).toBeUndefined();
    }
    failure = undefined;
    expect(await repetitions.isRepeated('shop', ABOUT)).toBe(false);
    expect(lines).toHaveLength(2);
  });

  it('do not hide a mistake of ours', async () => {
    failure = new TypeError('a bug');
    await expect(replica().isRepeated('shop', ABOUT)).rejects.toThrow('a bug');
  });
});
