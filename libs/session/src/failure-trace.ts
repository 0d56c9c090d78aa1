/** Our own marks: an exchange without TLS broke off, but a TLS handshake with the same port did not; … */
export const TLS_SPOKEN = 'ERR_BROKER_TLS_SPOKEN';
/** … and a complete session arrived that had already expired. */
export const PAST_EXPIRY = 'ERR_BROKER_PAST_EXPIRY';

/** What is known about a failed call beyond its kind and the gateway's code. All of it may be shown to anybody. */
export interface FailureTrace {
  /** The code of the operating system, of TLS or of the HTTP client, such as `ECONNREFUSED`. */
  readonly mark?: string;
  /** Host and port that could not be used. */
  readonly peer?: string;
  /** The peer is the proxy on the way to the gateway. */
  readonly viaProxy?: true;
  readonly httpStatus?: number;
  /** The gateway's id for the call: what the bank's support asks for. */
  readonly requestId?: string;
  /** RFC 7638, of our newest client key: neither it nor an older one opened the answer. */
  readonly thumbprint?: string;
  /** The gateway's code is neither observed nor published, and nothing else showed what it means. */
  readonly unknownCode?: true;
  /** The gateway has made a session, by this call or by one since our last session, but none that is of use to us. */
  readonly lostSession?: true;
}

type Rule = (value: unknown) => boolean;
const text =
  (pattern: RegExp): Rule =>
  (value) =>
    typeof value === 'string' && pattern.test(value);

const MIN_STATUS = 100;
const MAX_STATUS = 599;

const rules: Readonly<Record<keyof FailureTrace, Rule>> = {
  mark: text(/^[A-Za-z]\w{0,63}$/),
  peer: text(/^[A-Za-z0-9.:[\]_-]{1,260}$/),
  viaProxy: (value) => value === true,
  httpStatus: (value) => Number.isInteger(value) && Number(value) >= MIN_STATUS && Number(value) <= MAX_STATUS,
  requestId: text(/^[\w.-]{1,64}$/),
  thumbprint: text(/^[\w-]{43}$/),
  unknownCode: (value) => value === true,
  lostSession: (value) => value === true,
};

/**
 * What may be shown of it, no matter who wrote it: each member by its own rule, and no others. Undefined if nothing is
 * left.
 */
export function checkedTrace(value: unknown): FailureTrace | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const given = value as Readonly<Record<string, unknown>>;
  const kept = Object.entries(rules).flatMap(([name, rule]) => (rule(given[name]) ? [[name, given[name]]] : []));
  return kept.length === 0 ? undefined : (Object.fromEntries(kept) as FailureTrace);
}
