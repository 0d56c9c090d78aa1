import type { Clock } from '#libs/clock';
import type { MerchantBook } from '../merchants/merchant-book.js';
import type { Notifications } from '../notifications/notifications.js';
import type { Settings } from '../settings.js';
import type { Waiting } from '../wire/waiting.js';
import { orderDetails } from './order.js';
import type { PaymentBook } from './payment-book.js';
import { directMembers, operationMembers, type PaymentOperation } from './payment-operation.js';

interface NoticeParts {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly merchants: MerchantBook;
  readonly book: PaymentBook;
  readonly waiting: Waiting;
  readonly notifications: Notifications;
}

/** Completes operations, and tells the merchant if the payment named a URL for that. */
export class PaymentNotices {
  readonly #parts: NoticeParts;

  constructor(parts: NoticeParts) {
    this.#parts = parts;
  }

  /** A refund completes a little after it was requested. */
  settle(operation: PaymentOperation): void {
    const { waiting, settings } = this.#parts;
    waiting.later(settings.settleMs, () => this.#conclude(operation));
  }

  /** Called when the status of the operation has changed. */
  changed(operation: PaymentOperation): void {
    const merchant = this.#parts.merchants.byId(operation.merchant);
    const order = this.#parts.book.order(operation.hppOrderId);
    const url = operation.notificationUrl ?? (operation.type === 'PURCHASE' ? order?.notificationUrl : undefined);
    if (merchant === undefined || url === undefined) return;
    const document =
      order === undefined
        ? directMembers(operation)
        : {
            ...orderDetails(order),
            notificationUrl: url,
            notificationEncryption: operation.notificationEncryption,
            operation: operationMembers(operation),
          };
    this.#parts.notifications.send({ merchant, url, document, isSealed: operation.notificationEncryption });
  }

  #conclude(operation: PaymentOperation): void {
    // A reset in the meantime has removed it.
    if (this.#parts.book.operation(operation.operationId) !== operation || operation.status !== 'PENDING') return;
    operation.status = 'SUCCESS';
    operation.modifiedAt = this.#parts.clock.now();
    this.changed(operation);
  }
}
