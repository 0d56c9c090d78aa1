import { endedAfterEach, eventually, FakeClock } from '#libs/testing';
import { orderRequest } from './order-request.js';
import { CREATE_ORDER, ledgerOf, PaymentDesk } from './payment-desk.js';
import { RunningSandbox } from './running-sandbox.js';
import { openCompact } from '../../apps/sandbox/src/crypto/compact-jwe.js';
import { NotificationReceiver } from './notification-receiver.js';

describe('the ledger of payments', () => {
  let clock: FakeClock;
  let sandbox: RunningSandbox;
  let desk: PaymentDesk;

  const started = endedAfterEach();
  beforeEach(async () => {
    clock = new FakeClock('2026-03-18T12:00:00.000Z');
    sandbox = started.add(await RunningSandbox.start(clock), (it) => it.close());
    await sandbox.register({ supersedes: true });
    desk = await PaymentDesk.open(sandbox);
  });

  const settings = (body: object): Promise<unknown> => sandbox.control('/settings', { method: 'PATCH', body });
  const totals = async (query = ''): Promise<unknown> => (await ledgerOf(sandbox, query)).totals;

  it('has each payment once, with what was asked, when, and how it ended', async () => {
    await desk.createOrder({ merchantRequestId: 'order-1' });
    const ledger = await ledgerOf(sandbox);
    expect(ledger.payments).toEqual([
      {
        merchant: 'shop',
        operation: 'create-order',
        merchantRequestId: 'order-1',
        coinAmount: 12_500,
        outcome: 'accepted',
        requests: 1,
        accepted: 1,
        answered: 1,
        refusals: {},
        firstAt: '2026-03-18T12:00:00.000Z',
        lastAt: '2026-03-18T12:00:00.000Z',
      },
    ]);
    expect(ledger.totals).toEqual({
      payments: 1,
      requests: 1,
      accepted: 1,
      refused: 0,
      inFlight: 0,
      unanswered: 0,
      repeated: 0,
      doubled: 0,
      refusedByReason: {},
    });
  });

  it('keeps both steps of a purchase and a refund under the ids that they were asked for with', async () => {
    const { operationId } = await desk.purchase({ merchantRequestId: 'purchase-1' });
    await desk.refund(operationId, { merchantRequestId: 'refund-1' });
    await desk.operations('no payment');
    const { payments } = await ledgerOf(sandbox);
    expect(payments.map(({ operation, merchantRequestId }) => [operation, merchantRequestId])).toEqual([
      ['create-purchase', 'purchase-1'],
      ['execute-purchase', 'purchase-1'],
      ['refund', 'refund-1'],
    ]);
  });

  it('knows a payment that a dead session refused, and takes it as accepted once it came again', async () => {
    await sandbox.session();
    const refused = await desk.createPurchase({ merchantRequestId: 'purchase-1' });
    expect([refused.status, refused.code]).toEqual([200, 'b_session_doesnt_exist']);
    expect(await totals()).toMatchObject({
      accepted: 0,
      refused: 1,
      refusedByReason: { b_session_doesnt_exist: 1 },
    });
    const renewed = await PaymentDesk.open(sandbox);
    await renewed.createPurchase({ merchantRequestId: 'purchase-1' });
    expect(await totals()).toMatchObject({
      payments: 1,
      requests: 2,
      accepted: 1,
      refused: 0,
      repeated: 1,
      doubled: 0,
    });
  });

  it('tells a payment that was asked for twice, and one that was doubled', async () => {
    await desk.createOrder({ merchantRequestId: 'order-1' });
    await desk.createOrder({ merchantRequestId: 'order-1' });
    expect(await totals()).toMatchObject({ repeated: 1, doubled: 0, refusedByReason: { b_duplicate_field_value: 1 } });
    await settings({ duplicates: 'accepted' });
    await desk.createOrder({ merchantRequestId: 'order-1' });
    expect(await totals()).toMatchObject({ payments: 1, requests: 3, repeated: 1, doubled: 1 });
  });

  it('tells apart an answer that was lost from a request that was', async () => {
    await sandbox.fault({ kind: 'drop', at: 'arrival', operation: 'create-order', times: 1 });
    await sandbox.fault({ kind: 'drop', at: 'answer', operation: 'create-order', times: 1 });
    await expect(desk.createOrder({ merchantRequestId: 'request-lost' })).rejects.toThrow('fetch failed');
    await expect(desk.createOrder({ merchantRequestId: 'answer-lost' })).rejects.toThrow('fetch failed');
    const { payments, totals: sums } = await ledgerOf(sandbox);
    expect(payments).toMatchObject([
      { merchantRequestId: 'request-lost', outcome: 'refused', refusals: { drop: 1 } },
      { merchantRequestId: 'answer-lost', outcome: 'accepted', answered: 0 },
    ]);
    expect(sums).toMatchObject({ refused: 1, accepted: 1, unanswered: 1 });
  });

  it('counts what names no payment by its reason alone', async () => {
    await desk.post(CREATE_ORDER, orderRequest(), { 'x-device_id': 'nobody' });
    const { unidentified, payments } = await ledgerOf(sandbox);
    expect([unidentified, payments]).toEqual([{ b_unknown_device: 1 }, []]);
  });

  describe('while a payment takes 300 ms', () => {
    const arrived = (): Promise<unknown> => sandbox.calls('?operation=create-order&waitFor=1&until=arrived');

    it('is finished when it was accepted, although its session is superseded meanwhile', async () => {
      await settings({ paymentMs: 300 });
      const answer = desk.createOrder({ merchantRequestId: 'order-1' });
      await arrived();
      await sandbox.session();
      await clock.advance(300);
      expect((await answer).status).toBe(200);
      expect(await totals()).toMatchObject({ accepted: 1, refused: 0, inFlight: 0 });
    });
  });

  it('is asked for a merchant, an operation or an outcome, and forgets at request', async () => {
    await desk.createOrder({ merchantRequestId: 'order-1' });
    await desk.createOrder({ coinAmount: 0, merchantRequestId: 'order-2' });
    await desk.createPurchase();
    expect(await totals('?merchant=shop&operation=create-order')).toMatchObject({ payments: 2 });
    expect(await totals('?outcome=refused')).toMatchObject({ payments: 1, refusedByReason: { VALIDATION_ERROR: 1 } });
    expect(await totals('?merchantRequestId=order-1')).toMatchObject({ payments: 1, accepted: 1 });
    expect(await totals('?merchant=other')).toMatchObject({ payments: 0 });
    expect((await ledgerOf(sandbox, '?limit=1')).payments).toHaveLength(1);
    await sandbox.control('/ledger?merchant=shop', { method: 'DELETE' });
    expect(await totals()).toMatchObject({ payments: 0 });
  });
});

interface SentNotification {
  readonly id: number;
  readonly state: string;
  readonly target: string;
  readonly attempts: readonly object[];
  readonly nextAt?: string;
}

describe('notifications of the played gateway', () => {
  let clock: FakeClock;
  let sandbox: RunningSandbox;
  let desk: PaymentDesk;
  let receiver: NotificationReceiver;

  const started = endedAfterEach();
  beforeEach(async () => {
    clock = new FakeClock('2026-03-18T12:00:00.000Z');
    sandbox = started.add(await RunningSandbox.start(clock), (it) => it.close());
    await sandbox.register({ lifetimeMs: 86_400_000 });
    desk = await PaymentDesk.open(sandbox);
    await receives();
  });

  const receives = async (statuses?: readonly number[]): Promise<void> => {
    receiver = started.add(await NotificationReceiver.start(statuses), (it) => it.close());
  };

  const sent = (): Promise<readonly SentNotification[]> => sandbox.control('/notifications', { method: 'GET' });
  const settled = (state: string): Promise<void> => eventually(async () => (await sent()).at(-1)?.state === state);
  const advance = (byMs: number): Promise<unknown> => sandbox.control('/time/advance', { body: { byMs } });
  const payOrder = async (members: Readonly<Record<string, unknown>>): Promise<unknown> => {
    const { hppOrderId } = (await desk.createOrder(members)).body;
    await desk.pay(hppOrderId);
    return hppOrderId;
  };

  it('tell of an order that was paid, with its operation, in JSON', async () => {
    const hppOrderId = await payOrder({ merchantRequestId: 'order-1', notificationUrl: receiver.url });
    await settled('delivered');
    expect(receiver.received[0]?.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(receiver.received[0]?.headers).not.toHaveProperty('x-encrypted_body');
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toEqual({
      ecomOrderId: expect.any(String),
      coinAmount: 12_500,
      merchantId: 'terminal-1',
      statusUrl: expect.any(String),
      redirectUrl: expect.any(String),
      notificationUrl: receiver.url,
      notificationEncryption: false,
      hppOrderId,
      hppPayType: 'PURCHASE',
      merchantRequestId: 'order-1',
      paymentMethods: ['PAN', 'GOOGLE_PAY'],
      orderStatus: 'SUCCESS',
      createDate: '2026-03-18 12:00:00.000+00:00',
      expiredOrderDate: '2026-03-19 12:00:00.000+00:00',
      operation: expect.objectContaining({ type: 'PURCHASE', status: 'SUCCESS', hppOrderId }),
    });
  });

  it('are sealed to the client key where the order asks for that', async () => {
    await payOrder({ notificationUrl: receiver.url, notificationEncryption: true });
    await settled('delivered');
    const { headers, body } = receiver.received[0] ?? { headers: {}, body: '' };
    expect(headers).toMatchObject({ 'content-type': 'text/plain', 'x-encrypted_body': 'true' });
    expect(JSON.parse(openCompact(body, sandbox.own).toString('utf8'))).toMatchObject({
      orderStatus: 'SUCCESS',
      notificationEncryption: true,
    });
  });

  it('tell of a refund once it is done', async () => {
    const { operationId } = await desk.purchase();
    await desk.refund(operationId, { notificationUrl: receiver.url });
    expect(await sent()).toEqual([]);
    await clock.advance(1_000);
    await settled('delivered');
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ type: 'REFUND', status: 'SUCCESS' });
  });

  it('come again after 5 s, 30 s, 5 min, 30 min and 1 h, and then not again', async () => {
    await receives([500, 503, 302, 404, 201, 500]);
    await payOrder({ notificationUrl: receiver.url });
    const seen: number[] = [];
    for (const seconds of [5, 30, 300, 1_800, 3_600]) {
      await advance(seconds * 1_000 - 1);
      seen.push(receiver.received.length);
      await advance(1);
    }
    expect([seen, receiver.received.length]).toEqual([[1, 2, 3, 4, 5], 6]);
    await advance(86_400_000);
    expect(receiver.received).toHaveLength(6);
    expect(await sent()).toMatchObject([
      { state: 'given_up', attempts: [500, 503, 302, 404, 201, 500].map((httpStatus) => ({ httpStatus })) },
    ]);
  });

  it('stop once they were answered with 200, and all attempts are alike', async () => {
    await receives([500]);
    await payOrder({ notificationUrl: receiver.url, notificationEncryption: true });
    await advance(86_400_000);
    expect(receiver.received).toHaveLength(2);
    expect(receiver.received[1]?.body).toBe(receiver.received[0]?.body);
  });

  it('come again at request, whatever became of them', async () => {
    await payOrder({ notificationUrl: receiver.url });
    await settled('delivered');
    await sandbox.control('/notifications/1/repeat', { body: {} });
    await eventually(() => receiver.received.length === 2);
    await expect(sandbox.control('/notifications/2/repeat', { body: {} })).rejects.toThrow('404');
  });

  it('are listed with neither their content nor the query of their URL', async () => {
    await payOrder({ notificationUrl: receiver.url });
    await settled('delivered');
    const [entry] = await sent();
    expect(entry).toEqual({
      id: 1,
      merchant: 'shop',
      target: receiver.url.replace(/\?.*/, ''),
      sealed: false,
      state: 'delivered',
      attempts: [{ at: '2026-03-18T12:00:00.000Z', httpStatus: 200 }],
    });
  });

  it('do not go to the sandbox itself, which takes control requests from this machine', async () => {
    await payOrder({ notificationUrl: `${sandbox.url}/control/reset` });
    expect(await sent()).toMatchObject([{ state: 'blocked' }]);
  });

  it('go where the sandbox was told that they may, and are repeated when nothing answers there', async () => {
    const notificationOrigins = ['https://shop.invalid'];
    sandbox = started.add(await RunningSandbox.start(clock, { notificationOrigins }), (it) => it.close());
    await sandbox.register();
    desk = await PaymentDesk.open(sandbox);
    await payOrder({ notificationUrl: 'https://shop.invalid/notifications' });
    await eventually(async () => (await sent())[0]?.attempts.length === 1);
    expect(await sent()).toMatchObject([
      { state: 'pending', target: 'https://shop.invalid/notifications', nextAt: '2026-03-18T12:00:05.000Z' },
    ]);
  });
});
