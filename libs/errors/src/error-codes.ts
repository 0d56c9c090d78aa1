import { unavailableReasons } from './unavailable-reasons.js';

/** Whose fault a failure is: it decides who is told, and whether the text may leave the process. */
export type Fault = 'caller' | 'peer' | 'dependency' | 'configuration' | 'programmer';

export interface ErrorEntry {
  /** HTTP status when this failure ends a request. */
  readonly status: number;
  /** Whether the same request may succeed later without anyone changing anything. */
  readonly retryable: boolean;
  readonly fault: Fault;
  /** Constant, public, free of data: the problem-details title (RFC 9457). */
  readonly title: string;
}

/** What the issuer published to find out what became of a request (docs/egress.md). */
const lookItUp = 'look it up by its merchantRequestId, at payments/v1/operation/by_merchant_request_id';

/**
 * Every failure the product can report. Codes are a contract: they appear in problem details, logs and metrics, and are
 * never renamed. docs/reference/errors.md lists the same codes; a test keeps the two in sync.
 */
export const errorCodes = {
  invalid_request: { status: 400, retryable: false, fault: 'caller', title: 'The request is not valid' },
  unauthenticated: {
    status: 401,
    retryable: false,
    fault: 'caller',
    title: 'The credential is missing, unknown or not valid',
  },
  forbidden: { status: 403, retryable: false, fault: 'caller', title: 'The caller may not do this' },
  merchant_not_found: { status: 404, retryable: false, fault: 'caller', title: 'There is no such merchant' },
  route_not_found: { status: 404, retryable: false, fault: 'caller', title: 'There is no such resource' },
  method_not_allowed: {
    status: 405,
    retryable: false,
    fault: 'caller',
    title: 'The resource does not support this method',
  },
  request_timeout: { status: 408, retryable: true, fault: 'caller', title: 'The request took too long to arrive' },
  payload_too_large: { status: 413, retryable: false, fault: 'caller', title: 'The request body is too large' },
  uri_too_long: { status: 414, retryable: false, fault: 'caller', title: 'The request path is too long' },
  unsupported_media_type: {
    status: 415,
    retryable: false,
    fault: 'caller',
    title: 'The request body has an unsupported type',
  },
  expectation_failed: {
    status: 417,
    retryable: false,
    fault: 'caller',
    title: 'The request expects something that this server does not do',
  },
  misdirected_request: {
    status: 421,
    retryable: false,
    fault: 'caller',
    title: 'The request was sent to a name that this server does not answer for',
  },
  rate_limited: { status: 429, retryable: true, fault: 'caller', title: 'Too many requests' },
  headers_too_large: { status: 431, retryable: false, fault: 'caller', title: 'The request headers are too large' },
  method_not_implemented: {
    status: 501,
    retryable: false,
    fault: 'caller',
    title: 'The server does not know this method',
  },
  jwk_invalid: { status: 400, retryable: false, fault: 'caller', title: 'The JSON Web Key is not acceptable' },
  jwe_too_large: { status: 413, retryable: false, fault: 'caller', title: 'The JWE is too large' },
  jwe_malformed: { status: 400, retryable: false, fault: 'caller', title: 'The JWE is malformed' },
  jwe_algorithm_refused: {
    status: 400,
    retryable: false,
    fault: 'caller',
    title: 'The JWE uses an algorithm that is not accepted',
  },
  notification_invalid: {
    status: 422,
    retryable: false,
    fault: 'caller',
    title: 'The notification has none of the forms that the gateway sends',
  },
  card_number_in_clear: {
    status: 422,
    retryable: false,
    fault: 'caller',
    title: 'Card data is not encrypted; nothing was sent',
  },
  jwe_not_opened: { status: 422, retryable: false, fault: 'caller', title: 'The JWE could not be opened' },
  client_key_unavailable: {
    status: 503,
    retryable: true,
    fault: 'dependency',
    title: unavailableReasons.key_unavailable,
  },
  session_unavailable: {
    status: 503,
    retryable: true,
    fault: 'dependency',
    title: 'There is no session to serve at the moment',
  },
  foreign_authorizer: {
    status: 503,
    retryable: true,
    fault: 'peer',
    title: 'Somebody else creates sessions of this merchant, and each ends ours',
  },
  shutting_down: { status: 503, retryable: true, fault: 'dependency', title: 'This replica is shutting down' },
  overloaded: {
    status: 503,
    retryable: true,
    fault: 'dependency',
    title: 'This replica has more to do than it can take',
  },
  authentication_unavailable: {
    status: 503,
    retryable: true,
    fault: 'dependency',
    title: 'Credentials cannot be checked at the moment',
  },
  store_unavailable: {
    status: 503,
    retryable: true,
    fault: 'dependency',
    title: unavailableReasons.store_silent,
  },
  store_refused: { status: 503, retryable: true, fault: 'dependency', title: unavailableReasons.store_refuses },
  gateway_transient: {
    status: 503,
    retryable: true,
    fault: 'peer',
    title: unavailableReasons.transient,
  },
  gateway_timeout: { status: 503, retryable: true, fault: 'peer', title: unavailableReasons.timeout },
  gateway_refused: {
    status: 503,
    retryable: true,
    fault: 'peer',
    title: unavailableReasons.refused,
  },
  gateway_revoked: {
    status: 503,
    retryable: true,
    fault: 'peer',
    title: unavailableReasons.revoked,
  },
  gateway_invalid_response: {
    status: 503,
    retryable: true,
    fault: 'peer',
    title: unavailableReasons.invalid_response,
  },
  gateway_unreachable: {
    status: 502,
    retryable: true,
    fault: 'peer',
    title: 'The gateway could not be reached; nothing was sent',
  },
  answer_late: {
    status: 504,
    retryable: false,
    fault: 'peer',
    title: `The gateway did not answer in time; it is not known whether the bank has the request: ${lookItUp}`,
  },
  answer_lost: {
    status: 502,
    retryable: false,
    fault: 'peer',
    title: `The exchange with the gateway broke off; it is not known whether the bank has the request: ${lookItUp}`,
  },
  answer_unusable: {
    status: 502,
    retryable: false,
    fault: 'peer',
    title:
      'The gateway answered with something that cannot be passed on; it is not known what the bank made of the request',
  },
  answer_unopened: {
    status: 502,
    retryable: false,
    fault: 'dependency',
    title: `The gateway has answered, but its answer could not be opened; the bank has the request: ${lookItUp}`,
  },
  helper_forbidden: {
    status: 500,
    retryable: false,
    fault: 'programmer',
    title: 'Test-only helper requests must not be made here',
  },
  configuration_invalid: {
    status: 500,
    retryable: false,
    fault: 'configuration',
    title: 'The configuration is not valid',
  },
  key_file_invalid: { status: 500, retryable: false, fault: 'configuration', title: 'A key file is not usable' },
  address_in_use: { status: 500, retryable: false, fault: 'configuration', title: 'The address is already in use' },
  internal_error: {
    status: 500,
    retryable: false,
    fault: 'programmer',
    title: 'Something went wrong inside the broker',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof errorCodes;
