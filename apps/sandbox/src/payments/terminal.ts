import { GatewayRefusal } from '../gateway/refusal.js';
import type { MerchantBook } from '../merchants/merchant-book.js';
import type { Merchant, TerminalUse } from '../merchants/merchant.js';

export interface TerminalDemand {
  readonly merchant: Merchant;
  /** As named in the request. */
  readonly merchantId: string;
  readonly use: TerminalUse;
}

/**
 * A merchant has one terminal for a type of payment, with its own merchantId.
 * @throws GatewayRefusal `b_user_merchant_request_mismatch` for another merchant's, `b_merchant_not_found` for none,
 *   `b_terminal_not_found` for one that is not for such payments
 */
export function demandTerminal(merchants: MerchantBook, { merchant, merchantId, use }: TerminalDemand): void {
  if (merchant.merchantId !== merchantId) {
    const isOthers = merchants.all().some((other) => other.id !== merchant.id && other.merchantId === merchantId);
    if (isOthers) throw new GatewayRefusal('b_user_merchant_request_mismatch');
    if (merchant.merchantId !== undefined) throw new GatewayRefusal('b_merchant_not_found');
  }
  if (!merchant.payments.includes(use)) throw new GatewayRefusal('b_terminal_not_found');
}
