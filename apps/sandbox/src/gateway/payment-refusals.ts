const refusedBy = (msgText: string) => ({ status: 200, msgType: 'ERROR', msgText }) as const;

/** The published codes of payments, each with its own cause (docs/sandbox.md). */
export const paymentRefusals = {
  VALIDATION_ERROR: { status: 400, msgType: 'VALIDATION_ERROR', msgText: 'The request is not valid' },
  b_duplicate_field_value: refusedBy('There was a request with this merchantRequestId before'),
  b_terminal_not_found: refusedBy('The merchant has no terminal for this payment'),
  b_hpp_order_not_found: refusedBy('There is no such order'),
  b_hpp_order_expired: refusedBy('The order has expired'),
  b_operation_not_found: refusedBy('There is no such operation'),
  b_payment_not_found: refusedBy('There is no such payment'),
  b_payment_refund_not_supported: refusedBy('Such an operation cannot be refunded'),
  b_payment_invalid_refund_status: refusedBy('The operation is in no state to be refunded'),
  b_payment_invalid_refund_amount: refusedBy('The amount is more than what is left to refund'),
  b_txn_not_allowed: refusedBy('There were too many attempts of this operation today'),
  b_invalid_pan_format: refusedBy('The card number is not valid'),
  b_validation_card_expiration_date_and_security_code: refusedBy('Expiry date or security code is not valid'),
  b_authorize_transaction_failed: refusedBy('The payment was not authorized'),
} as const;
