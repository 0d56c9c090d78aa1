import type { GatewayFailureKind } from '#libs/session';

/** What is known of an answer that holds no session. */
interface FailedAnswer {
  readonly httpStatus: number;
  /** The gateway's code, already reduced to what a log may show. */
  readonly msgCode: string | undefined;
  readonly msgType: 'ERROR' | 'VALIDATION_ERROR' | undefined;
  /** Why there is no session in it, for the log. */
  readonly lack: string;
}

export interface FailureVerdict {
  readonly kind: GatewayFailureKind;
  readonly detail: string;
}

type FailureRule = (answer: FailedAnswer) => FailureVerdict | undefined;

const verdicts = {
  transient: { kind: 'transient', detail: 'the gateway reports a fault of its own that usually passes' },
  refused: {
    kind: 'refused',
    detail: 'the gateway refuses the request; compare serviceCode and client key with what the bank has registered',
  },
  revoked: { kind: 'revoked', detail: 'the gateway has revoked the access; only the bank can restore it' },
} as const satisfies Record<string, FailureVerdict>;

/** Codes seen on create-session (interface description, "Errors"). They outrank the HTTP status, which varies. */
const verdictOfCode: ReadonlyMap<string | undefined, FailureVerdict> = new Map<string, FailureVerdict>([
  ['b_server_is_overloaded', verdicts.transient],
  ['b_overload_error', verdicts.transient],
  ['b_unknown_error', verdicts.transient],
  ['b_service_unavailable', verdicts.transient],
  ['b_auth_token_expired', verdicts.revoked],
  ['b_merchant_not_found', verdicts.refused],
  ['b_terminal_not_found', verdicts.refused],
  ['b_virtual_device_not_found', verdicts.refused],
  ['b_invalid_request', verdicts.refused],
  ['b_encryptor_failed_decrypt_message', verdicts.refused],
]);

const rules: readonly FailureRule[] = [
  ({ msgCode }) => verdictOfCode.get(msgCode),
  ({ msgType }) => (msgType === 'VALIDATION_ERROR' ? verdicts.refused : undefined),
  ({ httpStatus }) => (httpStatus === 400 || httpStatus === 403 ? verdicts.refused : undefined),
  ({ httpStatus }) => (httpStatus === 429 || httpStatus >= 500 ? verdicts.transient : undefined),
  ({ httpStatus }) =>
    httpStatus >= 300 && httpStatus < 400
      ? { kind: 'invalid_response', detail: 'the gateway answered with a redirect, which is never followed' }
      : undefined,
  ({ httpStatus, msgCode, msgType, lack }) =>
    httpStatus < 300 && msgCode === undefined && msgType === undefined
      ? { kind: 'invalid_response', detail: lack }
      : undefined,
];

const UNKNOWN: FailureVerdict = {
  kind: 'transient',
  detail: 'the gateway reports something that its description does not name; treated as passing',
};

/** Classifies an answer without a session, in this order; the first verdict counts. */
export function classifyFailure(answer: FailedAnswer): FailureVerdict {
  for (const rule of rules) {
    const found = rule(answer);
    if (found !== undefined) return found;
  }
  return UNKNOWN;
}
