import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { endedAfterEach, eventually, FakeClock, LoopbackServer } from '#libs/testing';
import { orderRequest } from './order-request.js';
import { CREATE_ORDER, ledgerOf, PaymentDesk } from './payment-desk.js';
import { RunningSandbox } from './running-sandbox.js';
import { openCompact } from '../../apps/sandbox/src/crypto/compact-jwe.js';

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
  const totals = async (query = ''): Promise<unknown> => (await ledgerOf(sandbox.url, query)).totals;

  it('has each payment once, with what was asked, when, and how it ended', async () => {
    await desk.createOrder({ merchantRequestId: 'order-1' });
    const ledger = await ledgerOf(sandbox.url);
    const counts = { requests: 1, accepted: 1 };
    expect(ledger.payments).toEqual([
      {
        ...{ merchant: 'shop', operation: 'create-order', merchantRequestId: 'order-1', coinAmount: 12_500 },
        ...{ ...counts, outcome: 'accepted', answered: 1, refusals: {} },
        ...{ firstAt: '2026-03-18T12:00:00.000Z', lastAt: '2026-03-18T12:00:00.000Z' },
      },
    ]);
    expect(ledger.totals).toEqual({
      ...{ ...counts, payments: 1, refused: 0, inFlight: 0, unanswered: 0, repeated: 0, doubled: 0 },
      refusedByReason: {},
    });
    const { operationId } = await desk.purchase({ merchantRequestId: 'purchase-1' });
    await desk.refund(operationId, { merchantRequestId: 'refund-1' });
    await desk.operations('no payment');
    const { payments } = await ledgerOf(sandbox.url);
    expect(payments.map(({ operation, merchantRequestId }) => [operation, merchantRequestId])).toEqual([
      ['create-order', 'order-1'],
      ['create-purchase', 'purchase-1'],
      ['execute-purchase', 'purchase-1'],
      ['refund', 'refund-1'],
    ]);
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
    for (const merchantRequestId of ['request-lost', 'answer-lost'])
      expect((await desk.createOrder({ merchantRequestId })).status).toBe(0);
    const { payments, totals: sums } = await ledgerOf(sandbox.url);
    expect(payments).toMatchObject([
      { merchantRequestId: 'request-lost', outcome: 'refused', refusals: { drop: 1 } },
      { merchantRequestId: 'answer-lost', outcome: 'accepted', answered: 0 },
    ]);
    expect(sums).toMatchObject({ refused: 1, accepted: 1, unanswered: 1 });
  });

  it('counts what names no payment by its reason alone', async () => {
    const headers = { 'x-api_version': 'V1', 'x-device_id': 'nobody', 'x-refresh_token': 'x' };
    await sandbox.send(CREATE_ORDER, { headers, body: orderRequest() });
    const { unidentified, payments } = await ledgerOf(sandbox.url);
    expect([unidentified, payments]).toEqual([{ b_unknown_device: 1 }, []]);
  });

  it('finishes a payment that was accepted, although its session is superseded meanwhile', async () => {
    await settings({ paymentMs: 300 });
    const answer = desk.createOrder({ merchantRequestId: 'order-1' });
    await sandbox.calls('?operation=create-order&waitFor=1&until=arrived');
    await sandbox.session();
    await clock.advance(300);
    expect((await answer).status).toBe(200);
    expect(await totals()).toMatchObject({ accepted: 1, refused: 0, inFlight: 0 });
  });

  it('is asked for a merchant, an operation or an outcome, and forgets at request', async () => {
    await desk.createOrder({ merchantRequestId: 'order-1' });
    await desk.createOrder({ coinAmount: 0, merchantRequestId: 'order-2' });
    await desk.createPurchase();
    expect(await totals('?merchant=shop&operation=create-order')).toMatchObject({ payments: 2 });
    expect(await totals('?outcome=refused')).toMatchObject({ payments: 1, refusedByReason: { VALIDATION_ERROR: 1 } });
    expect(await totals('?merchantRequestId=order-1')).toMatchObject({ payments: 1, accepted: 1 });
    expect(await totals('?merchant=other')).toMatchObject({ payments: 0 });
    expect((await ledgerOf(sandbox.url, '?limit=1')).payments).toHaveLength(1);
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
  /** What the merchant's server has received, and the statuses that it answers with: 200 once there are no more. */
  let received: { readonly headers: IncomingHttpHeaders; readonly body: string }[];
  let statuses: readonly number[];
  let notificationUrl: string;

  const started = endedAfterEach();
  beforeEach(async () => {
    clock = new FakeClock('2026-03-18T12:00:00.000Z');
    sandbox = started.add(await RunningSandbox.start(clock), (it) => it.close());
    await sandbox.register({ lifetimeMs: 86_400_000 });
    desk = await PaymentDesk.open(sandbox);
    [received, statuses] = [[], []];
    const server = await LoopbackServer.http((request, response) => {
      void text(request).then((body) => {
        received.push({ headers: request.headers, body });
        response.writeHead(statuses[received.length - 1] ?? 200).end();
      });
    });
    notificationUrl = `http://127.0.0.1:${started.add(server, (it) => it.close()).port}/notifications?secret=s3cret`;
  });

  const sent = (): Promise<readonly SentNotification[]> => sandbox.control('/notifications', { method: 'GET' });
  const settled = (state: string): Promise<void> => eventually(async () => (await sent()).at(-1)?.state === state);
  const advance = (byMs: number): Promise<unknown> => sandbox.control('/time/advance', { body: { byMs } });
  const payOrder = async (members: Readonly<Record<string, unknown>>): Promise<unknown> => {
    const { hppOrderId } = (await desk.createOrder(members)).body;
    await desk.atPage(hppOrderId);
    return hppOrderId;
  };

  it('tell of an order that was paid, with its operation, in JSON; the list of them has neither content nor query', async () => {
    const hppOrderId = await payOrder({ merchantRequestId: 'order-1', notificationUrl });
    await settled('delivered');
    expect(received[0]?.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(received[0]?.headers).not.toHaveProperty('x-encrypted_body');
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({
      ...{ hppOrderId, ecomOrderId: expect.any(String), merchantId: 'terminal-1', merchantRequestId: 'order-1' },
      ...{ coinAmount: 12_500, hppPayType: 'PURCHASE', paymentMethods: ['PAN', 'GOOGLE_PAY'], orderStatus: 'SUCCESS' },
      ...{ statusUrl: expect.any(String), redirectUrl: expect.any(String) },
      ...{ notificationUrl, notificationEncryption: false },
      ...{ createDate: '2026-03-18 12:00:00.000+00:00', expiredOrderDate: '2026-03-19 12:00:00.000+00:00' },
      operation: expect.objectContaining({ type: 'PURCHASE', status: 'SUCCESS', hppOrderId }),
    });
    expect(await sent()).toEqual([
      {
        ...{ id: 1, merchant: 'shop', target: notificationUrl.replace(/\?.*/, ''), sealed: false },
        ...{ state: 'delivered', attempts: [{ at: '2026-03-18T12:00:00.000Z', httpStatus: 200 }] },
      },
    ]);
    await sandbox.control('/notifications/1/repeat', { body: {} });
    await eventually(() => received.length === 2);
    await expect(sandbox.control('/notifications/2/repeat', { body: {} })).rejects.toThrow('404');
  });

  it('tell of a refund once it is done', async () => {
    const { operationId } = await desk.purchase();
    await desk.refund(operationId, { notificationUrl });
    expect(await sent()).toEqual([]);
    await clock.advance(1_000);
    await settled('delivered');
    expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({ type: 'REFUND', status: 'SUCCESS' });
  });

  it('come again after 5 s, 30 s, 5 min, 30 min and 1 h, and then not again', async () => {
    statuses = [500, 503, 302, 404, 201, 500];
    await payOrder({ notificationUrl });
    const seen: number[] = [];
    for (const seconds of [5, 30, 300, 1_800, 3_600]) {
      await advance(seconds * 1_000 - 1);
      seen.push(received.length);
      await advance(1);
    }
    expect([seen, received.length]).toEqual([[1, 2, 3, 4, 5], 6]);
    await advance(86_400_000);
    expect(received).toHaveLength(6);
    expect(await sent()).toMatchObject([
      { state: 'given_up', attempts: statuses.map((httpStatus) => ({ httpStatus })) },
    ]);
  });

  it('are sealed to the client key where the order asks for that, alike each time, and stop once answered with 200', async () => {
    statuses = [500];
    await payOrder({ notificationUrl, notificationEncryption: true });
    await advance(86_400_000);
    expect(received).toHaveLength(2);
    const [{ headers, body } = { headers: {}, body: '' }, again] = received;
    expect(headers).toMatchObject({ 'content-type': 'text/plain', 'x-encrypted_body': 'true' });
    const opened = JSON.parse(openCompact(body, sandbox.own).toString('utf8')) as unknown;
    expect(opened).toMatchObject({ orderStatus: 'SUCCESS', notificationEncryption: true });
    expect(again?.body).toBe(body);
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
