import { openCompact, sealCompact } from '../../apps/sandbox/src/crypto/compact-jwe.js';
import { readPublicKey } from '../../apps/sandbox/src/crypto/ec-key.js';
import { DATE, type Members, orderRequest, purchaseRequest, refundRequest } from './order-request.js';
import type { ReadSession, RunningSandbox } from './running-sandbox.js';

export const CREATE_ORDER = '/ecom/execute_request/hpp/v1/create-order';
export const ORDER_OPERATIONS = '/ecom/execute_request/hpp/v1/operations';
export const REFUND = '/ecom/execute_request/payments/v3/refund';
export const CREATE_PURCHASE = '/ecom/execute_request/payments/v3/create/purchase';
export const EXECUTE_PURCHASE = '/ecom/execute_request/payments/v1/execute/purchase';

export const CREATE_PREAUTH = '/ecom/execute_request/payments/v3/create/preauth';
export const EXECUTE_PREAUTH = '/ecom/execute_request/payments/v1/execute/preauth';
export const COMPLETION = '/ecom/execute_request/payments/v1/completion';
export const BY_REQUEST = '/ecom/execute_request/payments/v1/operation/by_merchant_request_id';
export const OPERATION = '/ecom/execute_request/payments/v1/operations';

export const GOOD_CARD = '4111111111111111';

/** What came back: `code` is the msgCode of an error body, `body` an answer, opened if it was sealed. */
export interface PaymentAnswer {
  readonly status: number;
  readonly code: unknown;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Ledgered {
  readonly totals: Readonly<Record<string, unknown>>;
  readonly unidentified: Members;
  readonly forgotten: number;
  readonly payments: readonly Members[];
}

/** A merchant that pays with one session at a sandbox, over HTTP only. */
export class PaymentDesk {
  readonly #sandbox: RunningSandbox;
  readonly #session: ReadSession;

  constructor(sandbox: RunningSandbox, session: ReadSession) {
    this.#sandbox = sandbox;
    this.#session = session;
  }

  static async open(sandbox: RunningSandbox): Promise<PaymentDesk> {
    return new PaymentDesk(sandbox, await sandbox.session());
  }

  get headers(): Readonly<Record<string, string>> {
    const { deviceId, refreshToken } = this.#session;
    return { 'x-api_version': 'V1', 'x-device_id': deviceId, 'x-refresh_token': refreshToken ?? '' };
  }

  seal(plaintext: string): string {
    return sealCompact(plaintext, readPublicKey(this.#session.serverPublic));
  }

  /** Sealed to the payment key that the sandbox publishes. */
  async sealCard(plaintext: string): Promise<string> {
    const response = await this.#sandbox.send('/_sandbox/payment-key', { method: 'GET' });
    const { jwk } = (await response.json()) as { readonly jwk: unknown };
    return sealCompact(plaintext, readPublicKey(jwk));
  }

  async post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<PaymentAnswer> {
    const response = await this.#sandbox.send(path, { headers: { ...this.headers, ...headers }, body });
    return this.#read(response);
  }

  postSealed(path: string, members: Members): Promise<PaymentAnswer> {
    return this.post(path, this.seal(JSON.stringify(members)));
  }

  createOrder(members: Members = {}): Promise<PaymentAnswer> {
    return this.post(CREATE_ORDER, orderRequest(members));
  }

  operations(hppOrderId: unknown): Promise<PaymentAnswer> {
    return this.post(ORDER_OPERATIONS, { hppOrderId });
  }

  createPreauth(): Promise<PaymentAnswer> {
    return this.createPurchase({}, GOOD_CARD, CREATE_PREAUTH);
  }

  async createPurchase(members: Members = {}, card = GOOD_CARD, path = CREATE_PURCHASE): Promise<PaymentAnswer> {
    return this.postSealed(path, purchaseRequest(await this.sealCard(card), members));
  }

  async executePurchase(operationId: unknown, members: Members = {}, cardData = '2503111'): Promise<PaymentAnswer> {
    return this.postSealed(EXECUTE_PURCHASE, await this.#executeRequest(operationId, members, cardData));
  }

  async executePreauth(operationId: unknown): Promise<PaymentAnswer> {
    return this.postSealed(EXECUTE_PREAUTH, await this.#executeRequest(operationId, {}, '2503111'));
  }

  /** A direct purchase in both steps. @returns the paid operation */
  async purchase(members: Members = {}): Promise<Members> {
    const { body } = await this.createPurchase(members);
    return (await this.executePurchase(body['operationId'])).body;
  }

  refund(operationId: unknown, members: Members = {}): Promise<PaymentAnswer> {
    return this.postSealed(REFUND, refundRequest(operationId, members));
  }

  /** The customer at the hosted page. */
  pay(hppOrderId: unknown, outcome = 'SUCCESS'): Promise<Members> {
    return this.#sandbox.control(`/orders/${String(hppOrderId)}/pay`, { body: { outcome } });
  }

  async #executeRequest(operationId: unknown, members: Members, cardData: string): Promise<Members> {
    return { operationId, encryptedCardData: await this.sealCard(cardData), date: DATE, ...members };
  }

  async #read(response: Response): Promise<PaymentAnswer> {
    const body = (await response.json()) as Record<string, unknown>;
    const { jwe } = body;
    if (typeof jwe !== 'string') return { status: response.status, code: body['msgCode'], body };
    const opened = openCompact(jwe, this.#sandbox.own).toString('utf8');
    return { status: response.status, code: undefined, body: JSON.parse(opened) as Record<string, unknown> };
  }
}

export async function ledgerOf(sandbox: RunningSandbox, query = ''): Promise<Ledgered> {
  const response = await sandbox.send(`/_sandbox/ledger${query}`, { method: 'GET' });
  return (await response.json()) as Ledgered;
}
