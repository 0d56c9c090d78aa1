import type { Clock } from '#libs/clock';
import type { MerchantBook } from '../merchants/merchant-book.js';
import type { Notifications } from '../notifications/notifications.js';
import type { Settings } from '../settings.js';
import type { Waiting } from '../wire/waiting.js';
import { directMembers, operationMembers, type PaymentOperation } from './operation.js';
import { orderDetails } from './order.js';
import type { PaymentBook } from './payment-book.js';

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
  constructor(private readonly parts: NoticeParts) {}

  /** A refund completes a little after it was requested; `conclude` is what else happens then. */
  settle(operation: PaymentOperation, conclude: () => void): void {
    const { waiting, settings, book, clock } = this.parts;
    waiting.later(settings.settleMs, () => {
      // A reset in the meantime has removed it.
      if (book.operation(operation.operationId) !== operation) return;
      operation.status = 'SUCCESS';
      operation.modifiedAt = clock.now();
      conclude();
      this.changed(operation);
    });
  }

  /** Called when the status of the operation has changed. */
  changed(operation: PaymentOperation): void {
    const merchant = this.parts.merchants.byId(operation.merchant);
    const order = this.parts.book.order(operation.hppOrderId);
    const { notificationUrl: url, notificationEncryption: isSealed = false } = operation;
    if (merchant === undefined || url === undefined) return;
    const notice = { notificationUrl: url, notificationEncryption: isSealed, operation: operationMembers(operation) };
    const document = order === undefined ? directMembers(operation) : { ...orderDetails(order), ...notice };
    this.parts.notifications.send({ merchant, url, document, isSealed });
  }
}
