import { randomUUID } from 'node:crypto';
import { SystemClock } from '#libs/clock';
import { endedAfterAll, eventually } from '#libs/testing';
import { NotificationReceiver } from './notification-receiver.js';
import { orderRequest } from './order-request.js';
import { ledgerOf } from './payment-desk.js';
import { PublishedSdk, SdkError } from './published-sdk.js';
import { RunningSandbox } from './running-sandbox.js';
import { answers, faultsOf } from './sdk-answers.js';

const now = (): string => '2026-03-18 11:58:41.56+00:00';

describe('a client of the shape of the published SDK', () => {
  let sandbox: RunningSandbox;
  let receiver: NotificationReceiver;
  let sdk: PublishedSdk;

  const started = endedAfterAll();
  beforeAll(async () => {
    sandbox = started.add(await RunningSandbox.start(new SystemClock(), { settings: { settleMs: 10 } }), (it) =>
      it.close(),
    );
    await sandbox.register({ supersedes: true, merchantId: 'terminal-1' });
    receiver = started.add(await NotificationReceiver.start(), (it) => it.close());
    const published = await sandbox.send('/_sandbox/payment-key', { method: 'GET' });
    const { jwk } = (await published.json()) as { readonly jwk: Record<string, string> };
    sdk = new PublishedSdk({
      apiUrl: sandbox.url,
      serviceCode: sandbox.serviceCode,
      privateKey: sandbox.own.privateKey.export({ format: 'jwk' }),
      paymentKey: jwk,
    });
  });

  const purchase = (members: object = {}): Promise<Readonly<Record<string, unknown>>> =>
    sdk.createPurchase({
      merchantRequestId: randomUUID(),
      merchantId: 'terminal-1',
      cardNumber: '4111111111111111',
      coinAmount: 12_500,
      desiredThreeDSMode: 'MUST',
      date: now(),
      customerData: { senderCustomerId: 'customer-1' },
      ...members,
    });
  const notificationOf = async (index: number): Promise<Readonly<Record<string, unknown>>> => {
    await eventually(() => receiver.received.length > index);
    const { headers, body } = receiver.received[index] ?? { headers: {}, body: '' };
    return sdk.openNotification(headers, body);
  };

  it('runs every operation: an order, its operations, a purchase in two steps, refunds, and opens notifications', async () => {
    const order = await sdk.createHppOrder(
      orderRequest({ notificationUrl: receiver.url, notificationEncryption: true, generateQrNbu: true }),
    );
    await sandbox.control(`/orders/${String(order['hppOrderId'])}/pay`, { body: {} });
    expect(await notificationOf(0)).toMatchObject({ hppOrderId: order['hppOrderId'], orderStatus: 'PAID' });
    const { operations } = await sdk.getHppOrderOperations(order['hppOrderId']);
    const [paid] = operations as readonly Readonly<Record<string, unknown>>[];
    const refunded = await sdk.refund({
      merchantRequestId: randomUUID(),
      merchantId: 'terminal-1',
      operationId: paid?.['operationId'],
      coinAmount: '12500',
      date: now(),
      notificationUrl: receiver.url,
    });
    expect(refunded['status']).toBe('PENDING');
    expect(await notificationOf(1)).toMatchObject({ operation: { type: 'REFUND', status: 'SUCCESS' } });
    const first = await purchase({ notificationUrl: receiver.url, notificationEncryption: true });
    expect(first['status']).toBe('REQUIRED_3DS');
    const second = await sdk.executePurchase({
      operationId: first['operationId'],
      cardData: '2503111',
      date: now(),
      browserInfo: { language: 'uk', timeZone: -120 },
    });
    expect(second['status']).toBe('SUCCESS');
    expect(await notificationOf(2)).toMatchObject({ operationId: first['operationId'], status: 'SUCCESS' });
    await sdk.refund({
      merchantRequestId: randomUUID(),
      merchantId: 'terminal-1',
      operationId: first['operationId'],
      coinAmount: 12_500,
      date: now(),
      notificationUrl: '',
    });
    expect((await ledgerOf(sandbox)).totals).toMatchObject({ payments: 5, accepted: 5, repeated: 0, doubled: 0 });
  });

  it('meets refusals as it knows them: in clear, on sealed paths and under 200 as well', async () => {
    const refusal = await sdk
      .refund({ merchantRequestId: 'r', merchantId: 'terminal-1', operationId: 'none', coinAmount: 1, date: now() })
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    expect(refusal).toBeInstanceOf(SdkError);
    const { code, message, originalError } = refusal as SdkError;
    expect([code, JSON.parse(message), originalError.status]).toEqual([
      '500',
      expect.objectContaining({ msgCode: 'b_operation_not_found', msgType: 'ERROR' }),
      200,
    ]);
  });

  it.each(['documented', 'observed', 'none'])(
    'does not take a session whose end is written as %s',
    async (expiryFormat) => {
      await sandbox.register({ supersedes: true, merchantId: 'terminal-1', expiryFormat });
      await expect(sdk.createHppOrder(orderRequest())).rejects.toThrow('the answer is not as published');
      await sandbox.register({ supersedes: true, merchantId: 'terminal-1' });
    },
  );

  it('does not take an answer that lacks a member, or that has a null', async () => {
    await sandbox.fault({ kind: 'missing_fields', fields: ['hppOrderId'], operation: 'create-order', times: 1 });
    await expect(sdk.createHppOrder(orderRequest())).rejects.toThrow('the answer is not as published: hppOrderId');
    const order = await sdk.createHppOrder(orderRequest());
    expect(faultsOf(order, answers.order)).toEqual([]);
    expect(faultsOf({ ...order, createDate: null }, answers.order)).toEqual(['createDate']);
    expect(faultsOf({ ...order, loyalty: null }, answers.order)).toEqual(['loyalty']);
  });
});
