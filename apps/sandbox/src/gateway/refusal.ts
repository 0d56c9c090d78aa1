import { paymentRefusals } from './payment-refusals.js';

/** What the gateway itself refuses with (interface description, section "Errors"); faults may use any other code. */
const refusals = {
  b_invalid_request: { status: 200, msgType: 'VALIDATION_ERROR', msgText: 'The request is not valid' },
  b_merchant_not_found: { status: 200, msgType: 'ERROR', msgText: 'There is no merchant with this service code' },
  b_encryptor_failed_decrypt_message: { status: 200, msgType: 'ERROR', msgText: 'The message could not be decrypted' },
  b_service_unavailable: { status: 404, msgType: 'ERROR', msgText: 'There is no such service' },
  b_unknown_error: { status: 500, msgType: 'ERROR', msgText: 'An unknown error occurred' },
  b_expired_token: { status: 401, msgType: 'ERROR', msgText: 'The session has expired' },
  b_auth_token_expired: { status: 401, msgType: 'ERROR', msgText: 'The access has been revoked' },
  b_previous_auth_token_expired: { status: 401, msgType: 'ERROR', msgText: 'A newer session has ended this one' },
  b_used_token: { status: 401, msgType: 'ERROR', msgText: 'The session was used up long ago' },
  b_unknown_device: { status: 401, msgType: 'ERROR', msgText: 'There is no such session' },
  b_session_doesnt_exist: { status: 401, msgType: 'ERROR', msgText: 'The session does not exist' },
  b_session_doesnt_exists: { status: 401, msgType: 'ERROR', msgText: 'The session does not exist' },
  b_refresh_token_absent: { status: 200, msgType: 'ERROR', msgText: 'The header x-refresh_token is missing' },
  b_request_is_not_correct: { status: 400, msgType: 'ERROR', msgText: 'The request is not correct' },
  b_error_parse_json: { status: 400, msgType: 'ERROR', msgText: 'The body is not JSON' },
  b_user_merchant_request_mismatch: {
    status: 400,
    msgType: 'ERROR',
    msgText: 'The merchant is not that of the session',
  },
  ...paymentRefusals,
} as const;

export type MsgCode = keyof typeof refusals;
type MsgType = 'ERROR' | 'VALIDATION_ERROR';

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
  readonly msgType: MsgType;
  readonly msgText: string;
}

/** Ends an operation with the gateway's own error body. */
export class GatewayRefusal extends Error {
  override readonly name = 'GatewayRefusal';
  readonly refusal: Refusal;

  constructor(msgCode: MsgCode, change: { readonly msgText?: string; readonly status?: number } = {}) {
    super(msgCode);
    this.refusal = { msgCode, ...refusals[msgCode], ...change };
  }
}

/** The error body as observed. */
export function errorBody(requestId: string, { msgCode, msgType, msgText }: Refusal): string {
  return JSON.stringify({
    requestId,
    serviceId: 'sandbox',
    msgCode,
    msgType,
    msgText,
    isLocalized: false,
    msgAttrs: {},
    errorCauses: [],
  });
}
