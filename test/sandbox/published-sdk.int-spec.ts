import { endedAfterAll, endedAfterEach, eventually, FakeClock } from '#libs/testing';
import { orderRequest } from './order-request.js';
import { CREATE_ORDER, ledgerOf, PaymentDesk } from './payment-desk.js';
import { msgCodeOf, RunningSandbox } from './running-sandbox.js';
import { randomUUID } from 'node:crypto';
import { SystemClock } from '#libs/clock';
import { NotificationReceiver } from './notification-receiver.js';
import { PublishedSdk, SdkError } from './published-sdk.js';
import { answers, faultsOf } from './sdk-answers.js';

describe('what others do to the played gateway', () => {
  let clock: FakeClock;
  let sandbox: RunningSandbox;

  const started = endedAfterEach();
  beforeEach(async () => {
    clock = new FakeClock('2026-03-18T12:00:00.000Z');
    sandbox = started.add(await RunningSandbox.start(clock), (it) => it.close());
    await sandbox.register({ supersedes: true });
  });

  describe('a firewall before the gateway', () => {
    it.each([200, 403, 503])('answers a create call and a payment with a page under %i', async (status) => {
      const desk = await PaymentDesk.open(sandbox);
      await sandbox.fault({ kind: 'firewall_page', status });
      const created = await sandbox.authorize();
      const paid = await sandbox.send(CREATE_ORDER, {
        headers: desk.headers,
        body: orderRequest({ merchantRequestId: 'order-1' }),
      });
      for (const response of [created, paid]) {
        expect([response.status, response.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
        expect(response.headers.get('set-cookie')).toMatch(/^visid_incap=/);
        expect(await response.text()).toMatch(/^<!DOCTYPE html>[^]*Incident ID: [\da-f]{24}/);
      }
      expect((await ledgerOf(sandbox)).totals).toMatchObject({ refused: 1, refusedByReason: { firewall_page: 1 } });
    });
  });

  it('plays every published code of payments under any status as a fault', async () => {
    const desk = await PaymentDesk.open(sandbox);
    for (const status of [200, 400, 401, 500]) {
      await sandbox.fault({
        kind: 'error',
        status,
        msgCode: 'b_terminal_not_found',
        operation: 'create-order',
        times: 1,
      });
      const response = await sandbox.send(CREATE_ORDER, { headers: desk.headers, body: orderRequest() });
      expect([response.status, await msgCodeOf(response)]).toEqual([status, 'b_terminal_not_found']);
    }
  });

  it('shows true time only as it is, and lets virtual time pass', async () => {
    expect(await sandbox.control('/time/advance', { body: { byMs: 90_000 } })).toEqual({
      now: '2026-03-18T12:01:30.000Z',
      virtual: true,
    });
    expect(await sandbox.control('/time', { method: 'GET' })).toMatchObject({ now: '2026-03-18T12:01:30.000Z' });
  });

  it('has a page where a customer pays, and a status for those who ask', async () => {
    const desk = await PaymentDesk.open(sandbox);
    const { hppOrderId, redirectUrl, statusUrl } = (await desk.createOrder()).body;
    const page = await (await fetch(String(redirectUrl))).text();
    expect(page).toContain('Pay 125.00 UAH?');
    const action = /action="([^"]+outcome=SUCCESS)"/.exec(page)?.[1] ?? '';
    const paid = await sandbox.send(action, { body: '' });
    expect(await paid.text()).toContain('SUCCESS');
    expect(await (await fetch(String(statusUrl))).json()).toEqual({ hppOrderId, orderStatus: 'SUCCESS' });
    expect((await sandbox.send(action, { body: '' })).status).toBe(409);
    expect((await fetch(`${sandbox.url}/hpp/orders/none`)).status).toBe(404);
  });
});

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
    expect(await notificationOf(0)).toMatchObject({ hppOrderId: order['hppOrderId'], orderStatus: 'SUCCESS' });
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
