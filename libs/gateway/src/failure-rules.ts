import { deathCodes, type GatewayFailureKind, type NoAnswerReason } from '#libs/session';

/** What is known about an answer that holds no session. */
interface FailedAnswer {
  readonly httpStatus: number;
  /** The gateway's code, already reduced to what a log may show. */
  readonly msgCode: string | undefined;
  readonly msgType: 'ERROR' | 'VALIDATION_ERROR' | undefined;
  /** What it is instead, if it is not an answer of the gateway at all. */
  readonly instead: NoAnswerReason | undefined;
  /** Why there is no session in it, for the log. */
  readonly lack: string;
}

export interface FailureVerdict {
  readonly kind: GatewayFailureKind;
  readonly detail: string;
  readonly instead?: NoAnswerReason;
  readonly unknownCode?: true;
}

type FailureRule = (answer: FailedAnswer) => FailureVerdict | undefined;

const verdicts = {
  transient: { kind: 'transient', detail: 'the gateway reports a fault of its own that usually passes' },
  refused: {
    kind: 'refused',
    detail: 'the gateway refuses the request; compare serviceCode and client key with what the bank has registered',
  },
  /**
   * The create call presents no session, so a dead one of ours cannot be the cause: the gateway looks at one that it no
   * longer has, and the published advice is to create again. This holds under 400 too, where the status alone would be
   * a refusal.
   */
  deadSession: {
    kind: 'transient',
    detail:
      'the gateway names a session that has ended, although the request presents none; another call makes a new one',
  },
  revoked: { kind: 'revoked', detail: 'the gateway has revoked the access; only the bank can restore it' },
} as const satisfies Record<string, FailureVerdict>;

const HTML_INSTEAD = { instead: 'html_page' } as const;

/** Something in front of the gateway answered: a firewall, a proxy, a maintenance page. Nothing of it is passed on. */
const htmlVerdicts = {
  transient: {
    ...HTML_INSTEAD,
    kind: 'transient',
    detail: 'the answer was HTML: a firewall or proxy answers in place of the gateway',
  },
  /** Repeating a call that a firewall does not let in does not help; a person has to ask the bank. */
  refused: {
    ...HTML_INSTEAD,
    kind: 'refused',
    detail:
      'the answer was HTML: a firewall turns the request away; is the address of this broker one that the bank lets in?',
  },
} as const satisfies Record<string, FailureVerdict>;

/** Observed or published codes (interface description, "Errors"). They outrank the HTTP status, which varies. */
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
  ['b_refresh_token_absent', verdicts.refused],
  ['b_request_is_not_correct', verdicts.refused],
  ['b_error_parse_json', verdicts.refused],
  ['b_user_merchant_request_mismatch', verdicts.refused],
  ...deathCodes.map((code) => [code, verdicts.deadSession] as const),
]);

const isRefusal = (httpStatus: number): boolean => httpStatus === 400 || httpStatus === 403;
const isRedirect = (httpStatus: number): boolean => httpStatus >= 300 && httpStatus < 400;

const rules: readonly FailureRule[] = [
  ({ msgCode }) => verdictOfCode.get(msgCode),
  ({ msgType }) => (msgType === 'VALIDATION_ERROR' ? verdicts.refused : undefined),
  ({ instead, httpStatus }) => {
    if (instead !== 'html_page' || isRedirect(httpStatus)) return undefined;
    return isRefusal(httpStatus) ? htmlVerdicts.refused : htmlVerdicts.transient;
  },
  ({ httpStatus }) => (isRefusal(httpStatus) ? verdicts.refused : undefined),
  ({ httpStatus }) => (httpStatus === 429 || httpStatus >= 500 ? verdicts.transient : undefined),
  ({ httpStatus }) =>
    isRedirect(httpStatus)
      ? { kind: 'invalid_response', detail: 'the gateway answered with a redirect, which is never followed' }
      : undefined,
  ({ httpStatus, instead }) =>
    httpStatus < 300 && instead === 'empty_answer'
      ? { kind: 'transient', instead, detail: 'the answer was empty' }
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

/** Classifies an answer without a session by these rules, in order; the first verdict counts. */
export function classifyFailure(answer: FailedAnswer): FailureVerdict {
  for (const rule of rules) {
    const found = rule(answer);
    if (found !== undefined) return found;
  }
  return answer.msgCode === undefined ? UNKNOWN : { ...UNKNOWN, unknownCode: true };
}
