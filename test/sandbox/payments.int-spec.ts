import { randomUUID } from 'node:crypto';
import { endedAfterEach, FakeClock } from '#libs/testing';
import { orderRequest, refundRequest } from './order-request.js';
import {
  BY_REQUEST,
  COMPLETION,
  CREATE_ORDER,
  EXECUTE_PURCHASE,
  GOOD_CARD,
  OPERATION,
  PaymentDesk,
  REFUND,
} from './payment-desk.js';
import { msgCodeOf, RunningSandbox } from './running-sandbox.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('payments at the played gateway', () => {
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

  describe('an order on the hosted page', () => {
    it('is created with all published members, and no member is null', async () => {
      const { status, body } = await desk.createOrder({
        merchantRequestId: 'order-1',
        generateQrNbu: true,
        unknown: {},
      });
      expect(status).toBe(200);
      const page = `${sandbox.url}/hpp/orders/${String(body['hppOrderId'])}`;
      expect(body).toEqual({
        ...{ hppOrderId: expect.stringMatching(UUID), merchantRequestId: 'order-1', merchantId: 'terminal-1' },
        ...{
          hppPayType: 'PURCHASE',
          paymentMethods: ['PAN', 'GOOGLE_PAY'],
          orderStatus: 'CREATED',
          coinAmount: 12_500,
        },
        ...{ redirectUrl: page, statusUrl: `${page}/status`, nbuQrCode: expect.any(String) },
        ...{ expiredOrderDate: '2026-03-19 12:00:00.000+00:00', createDate: '2026-03-18 12:00:00.000+00:00' },
        notificationSignature: false,
      });
    });

    it('has its operations once the customer has paid', async () => {
      const { hppOrderId } = (await desk.createOrder({ notificationUrl: '' })).body;
      await desk.atPage(hppOrderId);
      const { body } = await desk.operations(hppOrderId);
      expect(body).toMatchObject({ hppOrderId, orderStatus: 'SUCCESS', ecomOrderId: expect.stringMatching(UUID) });
      expect(body['operations']).toEqual([
        {
          type: 'PURCHASE',
          coinAmount: 12_500,
          merchantId: 'terminal-1',
          operationId: expect.stringMatching(UUID),
          ecomOperationId: expect.stringMatching(UUID),
          status: 'SUCCESS',
          transactionCurrency: '980',
          hppOrderId,
          transactionResponseInfo: { actionCode: '0', responseCode: '00', description: 'Approved' },
          createDateTime: '2026-03-18 12:00:00.000+00:00',
          creationDateTime: '2026-03-18 12:00:00.000+00:00',
          modificationDateTime: '2026-03-18 12:00:00.000+00:00',
          rrn: expect.stringMatching(/^\d{12}$/),
          productType: 'ECOM_HPP',
          transactionType: 0,
          notificationUrl: '',
          notificationEncryption: false,
        },
      ]);
    });

    it.each([
      ['FAIL', 'another'],
      ['PENDING', 'the same'],
      ['REQUIRED_3DS', 'the same'],
    ])('whose payment is %s is paid by %s operation, once', async (outcome, which) => {
      const { hppOrderId } = (await desk.createOrder()).body;
      const { operationId } = await desk.atPage(hppOrderId, outcome);
      expect((await desk.operations(hppOrderId)).body['orderStatus']).toBe(outcome);
      const paid = await desk.atPage(hppOrderId);
      expect([paid['status'], paid['operationId'] === operationId]).toEqual(['SUCCESS', which === 'the same']);
      expect((await desk.operations(hppOrderId)).body['orderStatus']).toBe('SUCCESS');
      await expect(desk.atPage(hppOrderId)).rejects.toThrow('the order is paid already');
    });

    it.each(['PREAUTH', 'VERIFICATION'])('of the type %s has an operation of that type', async (hppPayType) => {
      const { hppOrderId } = (await desk.createOrder({ hppPayType })).body;
      const { operationId } = await desk.atPage(hppOrderId);
      expect((await desk.operations(hppOrderId)).body).toMatchObject({
        hppPayType,
        operations: [{ type: hppPayType }],
      });
      expect((await desk.refund(operationId)).code).toBe('b_payment_refund_not_supported');
    });

    it('expires unpaid after its time', async () => {
      const { hppOrderId } = (await desk.createOrder({ expirationTimeMinutes: 5 })).body;
      await clock.advance(5 * 60_000);
      expect(await desk.operations(hppOrderId)).toMatchObject({ status: 500, code: 'b_hpp_order_expired' });
      await expect(desk.atPage(hppOrderId)).rejects.toThrow('the order has expired');
    });

    it.each<[string, object]>([
      ['a merchantRequestId of 37 characters', { merchantRequestId: 'r'.repeat(37) }],
      ['an unknown hppPayType', { hppPayType: 'A2C' }],
      ['half a coin', { coinAmount: 1.5 }],
      ['no payment method', { paymentMethods: [] }],
      ['no customer', { customerData: undefined }],
      ['A2A without merchantComment', { hppPayType: 'A2A' }],
      ['null for what is optional', { notificationUrl: null }],
    ])('is not created with %s', async (_name, members) => {
      const { status, code } = await desk.createOrder(members as Record<string, unknown>);
      expect([status, code]).toEqual([200, 'VALIDATION_ERROR']);
    });

    it('has a page where the customer pays, and a status for those who ask', async () => {
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

  describe('a direct purchase', () => {
    it('is pending after its first step and paid after the second, sealed both ways', async () => {
      const { body: first } = await desk.createPurchase({ merchantRequestId: 'purchase-1' });
      expect(first).toMatchObject({
        type: 'PURCHASE',
        coinAmount: 12_500,
        merchantId: 'terminal-1',
        merchantRequestId: 'purchase-1',
        operationId: expect.stringMatching(UUID),
        ecomOperationId: expect.stringMatching(UUID),
        status: 'PENDING',
        transactionCurrency: '980',
        cardNumberMask: '4111********1111',
      });
      expect(first).not.toHaveProperty('approvalCode');
      const { body: second } = await desk.executePurchase(first['operationId']);
      expect(second).toMatchObject({
        operationId: first['operationId'],
        status: 'SUCCESS',
        approvalCode: expect.stringMatching(/^\d{6}$/),
      });
    });

    const DEMANDS_3DS = '4000000000003220';

    it.each<[string, string, string, object, string]>([
      ['any card that must pass 3-D Secure', GOOD_CARD, 'MUST', {}, 'REQUIRED_3DS'],
      ['any card that should pass it', GOOD_CARD, 'SHOULD', {}, 'PENDING'],
      ['any card without security code', GOOD_CARD, 'MUST_NOT', { txnType: 'NONCVV' }, 'SUCCESS'],
      ['a card that demands it', DEMANDS_3DS, 'SHOULD', {}, 'REQUIRED_3DS'],
      ['a card that demands it and must not', DEMANDS_3DS, 'MUST_NOT', {}, 'DESIRED_THREEDS_MODE_ERROR'],
      ['a declined card', '4000000000000002', 'SHOULD', {}, 'FAIL'],
    ])('with %s answers as published', async (...[, card, mode, members, status]) => {
      const { body } = await desk.createPurchase({ desiredThreeDSMode: mode, ...members }, card);
      expect(body['status']).toBe(status);
      expect('redirect3dsUrl' in body).toBe(status === 'REQUIRED_3DS');
    });

    it('needs the browser in its second step after 3-D Secure', async () => {
      const { operationId } = (await desk.createPurchase({ desiredThreeDSMode: 'MUST' })).body;
      expect((await desk.executePurchase(operationId)).code).toBe('VALIDATION_ERROR');
      const { body } = await desk.executePurchase(operationId, { browserInfo: { language: 'uk' } });
      expect(body['status']).toBe('SUCCESS');
    });
  });

  describe('a refund', () => {
    it('is pending, and says of what it gives something back', async () => {
      const original = await desk.purchase();
      const changes = { merchantRequestId: 'refund-1', coinAmount: '5000' };
      const { body } = await desk.refund(original['operationId'], changes);
      expect(body).toEqual({
        type: 'REFUND',
        coinAmount: 5_000,
        merchantId: 'terminal-1',
        operationId: expect.stringMatching(UUID),
        ecomOperationId: expect.stringMatching(UUID),
        status: 'PENDING',
        merchantRequestId: 'refund-1',
        transactionCurrency: '980',
        creationDateTime: '2026-03-18 12:00:00.000+00:00',
        createDateTime: '2026-03-18 12:00:00.000+00:00',
        modificationDateTime: '2026-03-18 12:00:00.000+00:00',
        transactionResponseInfo: { actionCode: '9', responseCode: '09', description: 'In progress' },
        productType: 'ECOM_DIRECT',
        transactionType: 20,
        hppOrderId: '',
        rrn: expect.stringMatching(/^\d{12}$/),
        rrnOriginal: original['rrn'],
        originalOperationId: original['operationId'],
        originalCoinAmount: 12_500,
        originalEcomOperationId: original['ecomOperationId'],
        notificationUrl: '',
        notificationEncryption: false,
        notificationSignature: false,
      });
    });

    it('of an order stands among its operations, and is done a second later', async () => {
      const { hppOrderId } = (await desk.createOrder()).body;
      const { operationId } = await desk.atPage(hppOrderId);
      await desk.refund(operationId);
      const refundStatus = async (): Promise<unknown> => {
        const { operations, orderStatus } = (await desk.operations(hppOrderId)).body;
        return [orderStatus, (operations as readonly { readonly status: string }[]).at(-1)?.status];
      };
      expect(await refundStatus()).toEqual(['SUCCESS', 'PENDING']);
      await clock.advance(1_000);
      expect(await refundStatus()).toEqual(['PARTIAL_REFUND', 'SUCCESS']);
      await desk.refund(operationId, { coinAmount: 12_400 });
      await clock.advance(1_000);
      expect(await refundStatus()).toEqual(['CANCELED', 'SUCCESS']);
    });
  });

  it('holds an amount by a preauthorization in two steps, and takes part of it, once', async () => {
    const { operationId } = (await desk.createPreauth()).body;
    expect((await desk.executePurchase(operationId)).code).toBe('b_payment_not_found');
    const held = await desk.executePreauth(operationId);
    expect(held.body).toMatchObject({ type: 'PREAUTH', status: 'SUCCESS', coinAmount: 12_500 });
    const complete = (members: object): Promise<{ readonly code: unknown; readonly body: object }> => {
      const { operationId: _refunded, ...common } = refundRequest(operationId, members as Record<string, unknown>);
      return desk.ask('sealed', COMPLETION, { ...common, originalOperationId: operationId });
    };
    expect((await complete({ coinAmount: 12_501 })).code).toBe('b_txn_not_allowed');
    expect((await complete({ coinAmount: 5_000 })).body).toMatchObject({
      ...{ type: 'COMPLETION', status: 'SUCCESS', coinAmount: 5_000 },
      ...{ preauthOperationId: operationId, preauthCoinAmount: 12_500 },
    });
    expect((await complete({ coinAmount: 5_000 })).code).toBe('b_txn_not_allowed');
    expect((await desk.refund(operationId)).code).toBe('b_payment_refund_not_supported');
  });

  describe('a lookup', () => {
    it('finds an operation by the id of its request and by its own, with null for what it lacks', async () => {
      const { operationId } = await desk.purchase({ merchantRequestId: 'purchase-1' });
      const byRequest = await desk.ask('sealed', BY_REQUEST, { merchantRequestId: 'purchase-1' });
      expect(byRequest.body).toMatchObject({ operationId, status: 'SUCCESS', merchantRequestId: 'purchase-1' });
      expect(byRequest.body).toMatchObject({ originalOperationId: null, createDateTime: expect.any(String) });
      expect((await desk.ask('sealed', OPERATION, { id: operationId })).body).toEqual(byRequest.body);
    });

    it("does not find what was never carried out, or is another merchant's", async () => {
      const { operationId } = await desk.purchase({ merchantRequestId: 'purchase-1' });
      const serviceCode = randomUUID();
      await sandbox.register({ id: 'other', serviceCode });
      const other = await PaymentDesk.open(sandbox, serviceCode);
      for (const [at, merchantRequestId] of [
        [desk, 'purchase-2'],
        [other, 'purchase-1'],
      ] as const) {
        const unknown = await at.ask('sealed', BY_REQUEST, { merchantRequestId });
        expect([unknown.status, unknown.code]).toEqual([200, 'b_operation_not_found']);
      }
      const unknown = await other.ask('sealed', OPERATION, { id: operationId });
      expect([unknown.status, unknown.code]).toEqual([404, 'payment_operation_not_found']);
    });
  });

  it('takes a sealed body as a JSON string, and headers with hyphens', async () => {
    const { deviceId, refreshToken } = await desk.session();
    const headers = { 'x-api-version': 'V1', 'x-device-id': deviceId, 'x-refresh-token': refreshToken };
    for (const type of ['application/json', 'text/plain']) {
      const body = JSON.stringify(await desk.seal(JSON.stringify({ merchantRequestId: 'none' })));
      const response = await sandbox.send(BY_REQUEST, { headers: { ...headers, 'content-type': type }, body });
      expect(await response.json()).toMatchObject({ msgCode: 'b_operation_not_found' });
    }
  });

  describe('a published code has a cause of its own', () => {
    const published: Readonly<Record<string, number>> = {
      b_duplicate_field_value: 400,
      b_error_parse_json: 400,
      b_hpp_order_not_found: 404,
    };
    type Told = { readonly code: unknown; readonly status: number };
    const causes: Readonly<Record<string, (desk: PaymentDesk) => Promise<Told>>> = {
      b_duplicate_field_value: async (at) => {
        await at.createOrder({ merchantRequestId: 'again' });
        return at.createOrder({ merchantRequestId: 'again' });
      },
      b_hpp_order_not_found: (at) => at.operations(randomUUID()),
      b_operation_not_found: (at) => at.refund(randomUUID()),
      b_payment_not_found: (at) => at.executePurchase(randomUUID()),
      b_payment_invalid_refund_status: async (at) => at.refund((await at.createPurchase()).body['operationId']),
      b_payment_invalid_refund_amount: async (at) =>
        at.refund((await at.purchase())['operationId'], { coinAmount: 12_501 }),
      b_payment_refund_not_supported: async (at) => {
        const refunded = await at.refund((await at.purchase())['operationId']);
        return at.refund(refunded.body['operationId']);
      },
      b_invalid_pan_format: (at) => at.createPurchase({}, '4111111111111112'),
      b_validation_card_expiration_date_and_security_code: async (at) =>
        at.executePurchase((await at.createPurchase()).body['operationId'], {}, '2513111'),
      b_authorize_transaction_failed: async (at) =>
        at.executePurchase((await at.createPurchase({}, '4000000000009995')).body['operationId']),
      b_encryptor_failed_decrypt_message: async (at) =>
        at.createPurchase({ encryptedCardNumber: await at.seal(GOOD_CARD) }),
      b_error_parse_json: (at) => at.ask('sealed', REFUND, '{'),
      b_invalid_request: (at) => at.ask('clear', EXECUTE_PURCHASE, { operationId: 'in clear' }),
      b_refresh_token_absent: async (at) => {
        const headers = { 'x-api_version': 'V1', 'x-device_id': (await at.session()).deviceId };
        const response = await sandbox.send(CREATE_ORDER, { headers, body: orderRequest() });
        return { status: response.status, code: await msgCodeOf(response) };
      },
    };

    it.each(Object.entries(causes))('%s', async (code, cause) => {
      const told = await cause(desk);
      expect([told.code, told.status]).toEqual([code, published[code] ?? 200]);
    });

    it('b_merchant_not_found, b_terminal_not_found, b_user_merchant_request_mismatch: whose terminal is named', async () => {
      await sandbox.register({ merchantId: 'terminal-1', payments: ['hosted'] });
      await sandbox.register({ id: 'other', serviceCode: randomUUID(), merchantId: 'terminal-2' });
      expect((await desk.createOrder()).code).toBeUndefined();
      expect((await desk.createOrder({ merchantId: 'terminal-3' })).code).toBe('b_merchant_not_found');
      expect((await desk.createOrder({ merchantId: 'terminal-2' })).code).toBe('b_user_merchant_request_mismatch');
      expect((await desk.createPurchase()).code).toBe('b_terminal_not_found');
    });
  });
});
