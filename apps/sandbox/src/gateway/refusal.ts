/**
 * What the gateway itself refuses with: its published status and a text (interface description, section "Errors";
 * docs/reference/sandbox.md has the causes). Faults may use any other code and status.
 */
const refusals = {
  b_invalid_request: [200, 'The request is not valid'],
  VALIDATION_ERROR: [200, 'The request is not valid'],
  b_merchant_not_found: [200, 'There is no such merchant'],
  b_encryptor_failed_decrypt_message: [200, 'The message could not be decrypted'],
  b_service_unavailable: [404, 'There is no such service'],
  b_unknown_error: [500, 'An unknown error occurred'],
  b_expired_token: [401, 'The session has expired'],
  b_auth_token_expired: [401, 'The access has been revoked'],
  b_previous_auth_token_expired: [401, 'A newer session has ended this one'],
  b_used_token: [401, 'The session was used up long ago'],
  b_unknown_device: [401, 'There is no such session'],
  b_session_doesnt_exist: [200, 'The session does not exist'],
  b_session_doesnt_exists: [200, 'The session does not exist'],
  b_refresh_token_absent: [200, 'The header x-refresh_token is missing'],
  b_request_is_not_correct: [400, 'The request is not correct'],
  b_error_parse_json: [400, 'The body is not JSON'],
  b_user_merchant_request_mismatch: [400, 'The merchant is not that of the session'],
  b_duplicate_field_value: [400, 'There was a request with this merchantRequestId before'],
  b_terminal_not_found: [200, 'The merchant has no terminal for this payment'],
  b_hpp_order_not_found: [404, 'There is no such order'],
  b_hpp_order_expired: [500, 'The order has expired'],
  b_operation_not_found: [200, 'There is no such operation'],
  payment_operation_not_found: [404, 'There is no such operation'],
  b_payment_not_found: [200, 'There is no such payment'],
  b_payment_refund_not_supported: [200, 'Such an operation cannot be refunded'],
  b_payment_invalid_refund_status: [200, 'The operation is in no state to be refunded'],
  b_payment_invalid_refund_amount: [200, 'The amount is more than what is left to refund'],
  b_txn_not_allowed: [400, 'There were too many attempts of this operation today'],
  b_invalid_pan_format: [200, 'The card number is not valid'],
  b_validation_card_expiration_date_and_security_code: [200, 'Expiry date or security code is not valid'],
  b_authorize_transaction_failed: [200, 'The payment was not authorized'],
} as const satisfies Readonly<Record<string, readonly [status: number, text: string]>>;

export type MsgCode = keyof typeof refusals;

/** The codes that tell a later request that its session is dead. */
export const endingCodes = [
  'b_expired_token',
  'b_auth_token_expired',
  'b_used_token',
  'b_previous_auth_token_expired',
  'b_unknown_device',
  'b_session_doesnt_exist',
  'b_session_doesnt_exists',
] as const satisfies readonly MsgCode[];

export interface Refusal {
  readonly status: number;
  readonly msgCode: string;
  readonly msgType: 'ERROR' | 'VALIDATION_ERROR';
  readonly msgText: string;
}

/** Ends an operation with the gateway's own error body. */
export class GatewayRefusal extends Error {
  override readonly name = 'GatewayRefusal';
  readonly refusal: Refusal;

  constructor(msgCode: MsgCode, change: { readonly msgText?: string; readonly status?: number } = {}) {
    super(msgCode);
    const [status, msgText] = refusals[msgCode];
    const isValidation = msgCode === 'b_invalid_request' || msgCode === 'VALIDATION_ERROR';
    this.refusal = { msgCode, status, msgType: isValidation ? 'VALIDATION_ERROR' : 'ERROR', msgText, ...change };
  }
}

/** The error body as observed. */
export function errorBody(requestId: string, { msgCode, msgType, msgText }: Refusal): string {
  const rest = { isLocalized: false, msgAttrs: {}, errorCauses: [] };
  return JSON.stringify({ requestId, serviceId: 'sandbox', msgCode, msgType, msgText, ...rest });
}
