import { sealCompact } from '../../apps/sandbox/src/crypto/compact-jwe.js';
import { readPublicKey } from '../../apps/sandbox/src/crypto/ec-key.js';
import { AliasCaller, type Route } from '../egress/callers.js';
import { DATE, type Members, orderRequest, purchaseRequest, refundRequest } from './order-request.js';
import type { RunningSandbox } from './running-sandbox.js';

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

/** What came back: `code` is that of an error, `body` an answer, opened if it was sealed; no status if nothing came. */
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
export class PaymentDesk extends AliasCaller {
  readonly #sandbox: RunningSandbox;

  private constructor(sandbox: RunningSandbox, serviceCode: string) {
    super(sandbox.url, { serviceCode, key: sandbox.own });
    this.#sandbox = sandbox;
  }

  static async open(sandbox: RunningSandbox, serviceCode = sandbox.serviceCode): Promise<PaymentDesk> {
    const desk = new PaymentDesk(sandbox, serviceCode);
    await desk.session();
    return desk;
  }

  async ask(route: Route, path: string, members: Members | string): Promise<PaymentAnswer> {
    const { status, code, text } = await this.pay(route, members, { path });
    return { status, code, body: text === '' ? {} : (JSON.parse(text) as Members) };
  }

  createOrder(members: Members = {}): Promise<PaymentAnswer> {
    return this.ask('clear', CREATE_ORDER, orderRequest(members));
  }

  operations(hppOrderId: unknown): Promise<PaymentAnswer> {
    return this.ask('clear', ORDER_OPERATIONS, { hppOrderId });
  }

  createPreauth(): Promise<PaymentAnswer> {
    return this.createPurchase({}, GOOD_CARD, CREATE_PREAUTH);
  }

  async createPurchase(members: Members = {}, card = GOOD_CARD, path = CREATE_PURCHASE): Promise<PaymentAnswer> {
    return this.ask('sealed', path, purchaseRequest(await sealedCard(this.#sandbox.url, card), members));
  }

  async executePurchase(operationId: unknown, members: Members = {}, cardData = '2503111'): Promise<PaymentAnswer> {
    return this.#execute(EXECUTE_PURCHASE, { operationId, ...members }, cardData);
  }

  async executePreauth(operationId: unknown): Promise<PaymentAnswer> {
    return this.#execute(EXECUTE_PREAUTH, { operationId }, '2503111');
  }

  /** A direct purchase in both steps. @returns the paid operation */
  async purchase(members: Members = {}): Promise<Members> {
    const { body } = await this.createPurchase(members);
    return (await this.executePurchase(body['operationId'])).body;
  }

  refund(operationId: unknown, members: Members = {}): Promise<PaymentAnswer> {
    return this.ask('sealed', REFUND, refundRequest(operationId, members));
  }

  /** The customer at the hosted page. */
  atPage(hppOrderId: unknown, outcome = 'SUCCESS'): Promise<Members> {
    return this.#sandbox.control(`/orders/${String(hppOrderId)}/pay`, { body: { outcome } });
  }

  async #execute(path: string, members: Members, cardData: string): Promise<PaymentAnswer> {
    const encryptedCardData = await sealedCard(this.#sandbox.url, cardData);
    return this.ask('sealed', path, { encryptedCardData, date: DATE, ...members });
  }
}

/** Sealed to the payment key that the sandbox publishes. */
export async function sealedCard(url: string, plaintext = GOOD_CARD): Promise<string> {
  const { jwk } = (await (await fetch(`${url}/_sandbox/payment-key`)).json()) as { readonly jwk: unknown };
  return sealCompact(plaintext, readPublicKey(jwk));
}

export async function ledgerOf(url: string, query = ''): Promise<Ledgered> {
  return (await (await fetch(`${url}/_sandbox/ledger${query}`)).json()) as Ledgered;
}
