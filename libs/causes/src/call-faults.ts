import {
  type FailureTrace,
  type GatewayFailureKind,
  PAST_EXPIRY,
  type SharedFailureKind,
  TLS_SPOKEN,
} from '#libs/session';

/** What is known of a call that failed. */
export interface Failed {
  readonly kind: GatewayFailureKind;
  readonly msgCode?: string | undefined;
  readonly trace?: FailureTrace | undefined;
  /** The thumbprint of our newest client key. */
  readonly newestKey?: string;
}

/** How a call failed, as far as somebody does something else because of it. */
export type CallFault = (typeof faults)[number][0] | SharedFailureKind;

type Check = (call: Failed) => boolean;

const NO_TLS_SPOKEN = 'ERR_SSL_WRONG_VERSION_NUMBER';
const BAD_PORT = 'ERR_BROKER_BAD_PORT';
/** The request could not even be written. */
const UNSENDABLE = 'UND_ERR_INVALID_ARG';
/** Sent also while the service is away, and only by the gateway. */
const AWAY = 'b_service_unavailable';

const markOf = ({ trace }: Failed): string | undefined => trace?.mark;
const marked =
  (...marks: readonly string[]): Check =>
  (call) =>
    marks.some((mark) => mark === markOf(call));

/** Whether no call was made because the certificate of whatever listens there is not trusted. */
export const isUntrusted: Check = (call) =>
  call.kind === 'refused' && markOf(call) !== undefined && markOf(call) !== UNSENDABLE;
const certificate =
  (...marks: readonly string[]): Check =>
  (call) =>
    isUntrusted(call) && marked(...marks)(call);

/** Statuses for a path that does not exist, or for a method that it does not accept. */
const ABSENT: readonly unknown[] = [404, 405];
const REDIRECT: readonly unknown[] = [301, 302, 303, 307, 308];
/** Bodies that add nothing to such a status; any other code shows that the operation itself has answered. */
const SILENT: readonly unknown[] = [undefined, AWAY, 'html_page', 'empty_answer'];

const isAbsent: Check = ({ kind, msgCode, trace }) =>
  kind === 'transient' && SILENT.includes(msgCode) && ABSENT.includes(trace?.httpStatus);
const isRedirected: Check = ({ kind, msgCode, trace }) =>
  kind === 'invalid_response' && msgCode === undefined && REDIRECT.includes(trace?.httpStatus);
const isHtml: Check = ({ msgCode }) => msgCode === 'html_page';
/** Another replica made the call, with a key that is not this one's newest, and could not open the answer. */
const isOfOtherKey: Check = ({ trace, newestKey }) =>
  trace?.thumbprint !== undefined && newestKey !== undefined && newestKey !== trace.thumbprint;

/** The first that holds counts; if none does, its kind. */
const faults = [
  ['key_unavailable', ({ kind }) => kind === 'key_unavailable'],
  ['past_expiry', marked(PAST_EXPIRY)],
  ['certificate_expired', certificate('CERT_HAS_EXPIRED')],
  ['certificate_not_yet_valid', certificate('CERT_NOT_YET_VALID')],
  ['certificate_other_name', certificate('ERR_TLS_CERT_ALTNAME_INVALID', 'HOSTNAME_MISMATCH')],
  ['certificate_not_pinned', certificate('ERR_BROKER_PIN_MISMATCH')],
  ['certificate_untrusted', isUntrusted],
  ['unsendable', marked(UNSENDABLE)],
  ['no_route', marked('EHOSTDOWN', 'EHOSTUNREACH', 'ENETDOWN', 'ENETUNREACH')],
  ['nothing_listens', marked('ECONNREFUSED')],
  ['no_address', marked('ENOTFOUND')],
  ['no_name_server', marked('EAI_AGAIN')],
  ['no_connection', marked('UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT')],
  ['no_tls', marked(NO_TLS_SPOKEN)],
  ['bad_port', marked(BAD_PORT)],
  ['tls_spoken', marked(TLS_SPOKEN)],
  ['no_answer', ({ kind }) => kind === 'timeout' || kind === 'aborted'],
  ['broken_off', (call) => markOf(call) !== undefined],
  ['other_key', isOfOtherKey],
  ['sealed', ({ trace }) => trace?.thumbprint !== undefined],
  ['maybe_misaddressed', (call) => isAbsent(call) && call.msgCode === AWAY],
  ['misaddressed', isAbsent],
  ['redirected', isRedirected],
  ['empty_answer', ({ msgCode }) => msgCode === 'empty_answer'],
  ['firewall', (call) => isHtml(call) && call.kind === 'refused'],
  ['firewall_or_proxy', isHtml],
  ['unknown_code', ({ kind, msgCode, trace }) => kind === 'transient' && !!msgCode && trace?.unknownCode === true],
] as const satisfies readonly (readonly [string, Check])[];

export const callFaults = faults.map(([fault]) => fault);

export function faultOf(call: Failed): CallFault {
  const { kind } = call;
  // An abort of our own is to everyone else what ended the call.
  return faults.find(([, holds]) => holds(call))?.[0] ?? (kind === 'aborted' ? 'timeout' : kind);
}

/** Whether the answer looks like that of an address other than the create call's. */
export function seemsMisaddressed(call: Failed): boolean {
  return ['maybe_misaddressed', 'misaddressed', 'redirected'].includes(faultOf(call));
}

const WRONG_SCHEME = marked(NO_TLS_SPOKEN, TLS_SPOKEN, BAD_PORT);

/**
 * Whether the address is wrong rather than the gateway: its scheme is not what is spoken there, or whatever answers
 * takes no create calls and does not say in the gateway's own words that it is away.
 */
export function leadsElsewhere(call: Failed): boolean {
  return WRONG_SCHEME(call) || (call.msgCode !== AWAY && seemsMisaddressed(call));
}
