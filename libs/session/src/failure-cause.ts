import { unavailableReasons } from '#libs/errors';
import type { FailureTrace } from './failure-trace.js';
import type { GatewayFailureKind } from './gateway-failure.js';
import type { RecordedFailure } from './ports/session-store.js';

export { checkedTrace } from './failure-trace.js';

/**
 * Why something is not as it should be: a clause that begins in lower case, and the page of docs/runbooks to continue
 * with.
 */
export interface Cause {
  readonly text: string;
  readonly runbook: string;
  /**
   * What is left of `text` next to a headline that says how the merchant is: without what the headline itself says, and
   * without countdowns, which would be read aloud every second. Absent if that is all of it.
   */
  readonly inHeadline?: string;
}

/** A part of a cause; a headline words it differently, or leaves it out. */
export interface Clause {
  readonly text: string;
  readonly inHeadline?: string;
}

export function joined(clauses: readonly Clause[], runbook: string): Cause {
  const text = clauses.map((one) => one.text).join('; ');
  const left = clauses.map((one) => one.inHeadline ?? one.text).filter((one) => one !== '');
  const inHeadline = left.join('; ');
  return { text, runbook, ...(inHeadline === text ? {} : { inHeadline }) };
}

/** A failure that replicas share, plus what this one knows itself. */
export interface ToldFailure extends RecordedFailure {
  /** The thumbprint of our newest client key; if absent, that of the key with which the gateway was asked. */
  readonly newestKey?: string;
}

type Failed = Pick<ToldFailure, 'kind' | 'msgCode' | 'trace' | 'newestKey'>;
interface Known extends FailureTrace {
  readonly kind: Exclude<GatewayFailureKind, 'aborted'>;
  readonly code: string | undefined;
  readonly where: string;
  readonly newestKey: string | undefined;
}
type Teller = (known: Known) => string | undefined;

const withStatus = ({ httpStatus }: Known): string => (httpStatus === undefined ? '' : ` (HTTP ${httpStatus})`);

/** Our own code: an exchange without TLS broke off, but a TLS handshake with the same port did not. */
export const TLS_SPOKEN = 'ERR_BROKER_TLS_SPOKEN';

const unreached: Readonly<Record<string, (where: string) => string>> = {
  ECONNREFUSED: (where) => `nothing listens there (ECONNREFUSED to ${where})`,
  ENOTFOUND: (where) => `its name has no address (ENOTFOUND for ${where})`,
  EAI_AGAIN: (where) => `the name server does not answer (EAI_AGAIN for ${where})`,
  UND_ERR_CONNECT_TIMEOUT: (where) => `nothing answers there (no connection in time to ${where})`,
  ERR_SSL_WRONG_VERSION_NUMBER: (where) =>
    `no TLS is spoken there, although the address begins with https (ERR_SSL_WRONG_VERSION_NUMBER from ${where})`,
  ETIMEDOUT: (where) => `nothing answers there (ETIMEDOUT to ${where})`,
  ERR_BROKER_BAD_PORT: (where) =>
    `the Fetch standard lets no request go to that port: what listens there needs another one (${where})`,
  [TLS_SPOKEN]: (where) => `TLS is spoken there, although the address begins with http (${where})`,
};
const NO_ROUTE = new Set(['EHOSTDOWN', 'EHOSTUNREACH', 'ENETDOWN', 'ENETUNREACH']);

const faultOfCertificate: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another name',
  HOSTNAME_MISMATCH: 'is for another name',
  ERR_BROKER_PIN_MISMATCH: 'has a key that is not pinned',
};

/** Our own code: a complete session arrived that had already expired. */
export const PAST_EXPIRY = 'ERR_BROKER_PAST_EXPIRY';

/** The request could not even be written. */
const UNSENDABLE = 'UND_ERR_INVALID_ARG';
const isCertificate = ({ kind, mark }: { readonly kind: string; readonly mark?: string | undefined }): boolean =>
  kind === 'refused' && mark !== undefined && mark !== UNSENDABLE;

/** Whether no call was made because the certificate of whatever listens there is not trusted. */
export function isUntrusted({
  kind,
  trace,
}: {
  readonly kind: string;
  readonly trace?: FailureTrace | undefined;
}): boolean {
  return isCertificate({ kind, mark: trace?.mark });
}

const pastExpiry: Teller = ({ mark }) =>
  mark === PAST_EXPIRY
    ? 'the session was past its expiry on arrival: compare the clocks of broker and gateway'
    : undefined;

const network: Teller = ({ mark, kind, where }) => {
  if (mark === undefined) return kind === 'timeout' ? `no answer in time from ${where}` : undefined;
  if (isCertificate({ kind, mark })) {
    return `the certificate of ${where} ${faultOfCertificate[mark] ?? 'is not trusted'} (${mark})`;
  }
  if (mark === UNSENDABLE) return `the request cannot be sent as configured (${mark})`;
  if (NO_ROUTE.has(mark)) return `no route leads there (${mark} to ${where})`;
  const known = unreached[mark]?.(where);
  if (known !== undefined) return known;
  return kind === 'timeout' ? `no answer in time from ${where} (${mark})` : `${where} broke the call off (${mark})`;
};

const SHORT_KEY = 8;

/** Enough of a thumbprint to compare it with another one. */
const short = (thumbprint: string): string => `${thumbprint.slice(0, SHORT_KEY)}…`;

const sealed: Teller = ({ thumbprint, newestKey = thumbprint }) => {
  if (thumbprint === undefined || newestKey === undefined) return undefined;
  if (thumbprint === newestKey) return 'the answer is sealed to another key than ours, or damaged';
  const keys = keysText(thumbprint, newestKey);
  return `the bank was asked with ${keys}, and the answer did not open: ${SAME_KEYS}`;
};

/** The remedy if one of the replicas lacks a key. */
export const SAME_KEYS = 'give every replica the same key files (clientKeyFiles)';

const keysText = (thumbprint: string, newestKey: string): string =>
  `another key (${short(thumbprint)}) than the newest of this replica (${short(newestKey)})`;

/** Which key the gateway was asked with, if it was another replica that asked. */
export function otherKeyText({ trace, newestKey = '' }: Pick<ToldFailure, 'trace' | 'newestKey'>): string {
  return keysText(trace?.thumbprint ?? '', newestKey);
}

/** Whether the answer did not open at another replica, whose key is not this one's newest. */
export function isOfOtherKey({ trace, newestKey }: Pick<ToldFailure, 'trace' | 'newestKey'>): boolean {
  return areDifferent(trace?.thumbprint, newestKey);
}

function areDifferent(thumbprint: string | undefined, newestKey: string | undefined): boolean {
  return thumbprint !== undefined && newestKey !== undefined && newestKey !== thumbprint;
}

/** Statuses for a path that does not exist, or for a method that it does not accept. */
const ABSENT = new Set([404, 405]);
const REDIRECT = new Set([301, 302, 303, 307, 308]);
/** Bodies that add nothing to such a status; any other code shows that the operation itself has answered. */
const absentBody: Readonly<Record<string, string>> = {
  b_service_unavailable: ', b_service_unavailable',
  html_page: ', a page of HTML',
  empty_answer: '',
};

const misaddressed: Teller = ({ kind, code, httpStatus }) => {
  if (httpStatus === undefined) return undefined;
  const isAbsent = kind === 'transient' && ABSENT.has(httpStatus);
  const marks = code === undefined ? '' : isAbsent ? absentBody[code] : undefined;
  if (isAbsent && marks !== undefined) {
    // Also seen from a service that is temporarily away, and classified as that.
    const orAway = code === 'b_service_unavailable' ? ', or the service is away for now' : '';
    return `no create call is taken at the address asked: gateway.baseUrl is probably wrong${orAway} (HTTP ${httpStatus}${marks})`;
  }
  return kind === 'invalid_response' && code === undefined && REDIRECT.has(httpStatus)
    ? `the address asked leads elsewhere, where no call follows: gateway.baseUrl is probably wrong (HTTP ${httpStatus})`
    : undefined;
};

const instead: Teller = (known) => {
  if (known.code === 'empty_answer') return `the bank's answer is empty${withStatus(known)}`;
  if (known.code !== 'html_page') return undefined;
  return known.kind === 'refused'
    ? `a firewall turns the call away: a page of HTML in place of an answer${withStatus(known)}`
    : `a firewall or proxy answers in place of the bank: a page of HTML${withStatus(known)}`;
};

const saidBy = {
  refused: 'the bank refuses',
  revoked: 'the bank has revoked the access',
  transient: 'the bank reports a fault of its own',
  timeout: 'the bank did not answer in time',
  invalid_response: "the bank's answer is not a session",
  key_unavailable: clause(unavailableReasons.key_unavailable.page),
} as const satisfies Record<Known['kind'], string>;

const unknown: Teller = ({ kind, code, unknownCode }) =>
  kind === 'transient' && unknownCode === true && code !== undefined
    ? `the bank answers with a code that is not known here: ${code}`
    : undefined;

const said: Teller = ({ kind, code }) => (code === undefined ? undefined : `${saidBy[kind]}: ${code}`);

const byStatus: Teller = (known) =>
  known.httpStatus === undefined ? undefined : `${saidBy[known.kind]}${withStatus(known)}`;

/** Says nothing about the bank, whatever its answer was like. */
const ownKey: Teller = ({ kind }) => (kind === 'key_unavailable' ? saidBy[kind] : undefined);

const tellers: readonly Teller[] = [
  ownKey,
  pastExpiry,
  network,
  sealed,
  misaddressed,
  instead,
  unknown,
  said,
  byStatus,
];

/**
 * What ended a call, in the words shared by the status page, `GET /v1/merchants`, the answer to a requested renewal and
 * `doctor`. It consists only of constant text and of what passed the rules of `FailureTrace` and of the gateway's
 * codes.
 */
export function causeOf(failed: Failed): Cause {
  const known = knownOf(failed);
  const reason = unavailableReasons[known.kind];
  const text = tellers.reduce<string | undefined>((told, teller) => told ?? teller(known), undefined);
  return { text: text ?? clause(reason.page), runbook: runbookOf(known) ?? reason.runbook };
}

/** Set if it differs from that of the kind. */
function runbookOf(known: Known): string | undefined {
  if (known.mark === PAST_EXPIRY) return 'clock-skew';
  if (areDifferent(known.thumbprint, known.newestKey)) return 'unopenable-records';
  return known.thumbprint !== undefined || isCertificate(known) ? 'access-refused' : undefined;
}

/** Whether the answer looks like that of an address other than the create call's, as `causeOf` then says. */
export function seemsMisaddressed(failed: Failed): boolean {
  return misaddressed(knownOf(failed)) !== undefined;
}

/** Sent also while the service is away, and only by the gateway. */
const AWAY = 'b_service_unavailable';
const NO_TLS_SPOKEN = 'ERR_SSL_WRONG_VERSION_NUMBER';

const WRONG_SCHEME: ReadonlySet<string | undefined> = new Set([NO_TLS_SPOKEN, TLS_SPOKEN, 'ERR_BROKER_BAD_PORT']);

/**
 * Whether the address is wrong rather than the gateway: its scheme is not what is spoken there, or whatever answers
 * takes no create calls and does not say in the gateway's own words that it is away.
 */
export function leadsElsewhere(failed: Failed): boolean {
  if (WRONG_SCHEME.has(failed.trace?.mark)) return true;
  return failed.msgCode !== AWAY && seemsMisaddressed(failed);
}

function knownOf({ kind, msgCode, trace = {}, newestKey }: Failed): Known {
  // An abort of our own is recorded as what it is to everyone else.
  return { ...trace, kind: kind === 'aborted' ? 'timeout' : kind, code: msgCode, where: whereOf(trace), newestKey };
}

function whereOf({ peer = 'the gateway', viaProxy }: FailureTrace): string {
  return viaProxy === true ? `the proxy ${peer}` : peer;
}

/** For use within a sentence. */
export function clause(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
