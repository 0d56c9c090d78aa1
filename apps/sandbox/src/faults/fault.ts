import { operations } from '../calls/call-log.js';
import {
  listOf,
  oneOf,
  optional,
  readInput,
  shape,
  text,
  wholeNumber,
  withDefault,
  type Reader,
} from '../input/read-input.js';
import { merchantId } from '../merchants/merchant.js';

const A_DAY_MS = 86_400_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** Before the operation is carried out, or after it, when only the answer is still missing. */
const beforeOrAfter = oneOf(['arrival', 'answer']);
const anywhere = oneOf(['arrival', 'answer', 'body']);
const statusCode = wholeNumber(200, 599);
const words = (longest: number): Reader<string> =>
  text({ longest, pattern: /^[^\p{Cc}]*$/u, due: `at most ${longest} printable characters` });

const jweShapes = ['random', 'four_parts', 'other_alg', 'zip', 'crit', 'bad_epk'] as const;

/** Every fault by its kind, each with its parameters in addition to `operation`, `merchant` and `times`. */
const parameters = {
  latency: { delayMs: wholeNumber(0, A_DAY_MS), at: withDefault(beforeOrAfter, 'arrival') },
  hold: { at: withDefault(beforeOrAfter, 'arrival') },
  hang: { at: withDefault(anywhere, 'arrival') },
  drop: { at: withDefault(anywhere, 'arrival') },
  interim: { statuses: withDefault(listOf(wholeNumber(100, 103), 8), [102, 103]) },
  slow: {
    part: withDefault(oneOf(['headers', 'body']), 'body'),
    everyMs: withDefault(wholeNumber(1, A_DAY_MS), 200),
    bytes: withDefault(wholeNumber(1, 65_536), 1),
  },
  clock_skew: { skewMs: wholeNumber(-365 * A_DAY_MS, 365 * A_DAY_MS) },
  error: {
    status: withDefault(statusCode, 503),
    msgCode: withDefault(words(128), 'b_server_is_overloaded'),
    msgType: withDefault(oneOf(['ERROR', 'VALIDATION_ERROR']), 'ERROR'),
    msgText: withDefault(words(1_024), 'A fault that was asked for'),
    retryAfter: optional(words(64)),
  },
  redirect: {
    status: withDefault(wholeNumber(300, 399), 302),
    location: withDefault(words(1_024), '/elsewhere'),
  },
  empty: { status: withDefault(statusCode, 204) },
  garbage_body: {
    status: withDefault(statusCode, 200),
    text: withDefault(text({ longest: 65_536 }), '<html><body>Service temporarily unavailable</body></html>'),
  },
  firewall_page: { status: withDefault(statusCode, 403) },
  garbage_jwe: { shape: withDefault(oneOf(jweShapes), 'random') },
  wrong_key: {},
  oversized: {
    part: withDefault(oneOf(['headers', 'body']), 'body'),
    bytes: withDefault(wholeNumber(1, MAX_BYTES), 1024 * 1024),
  },
  missing_fields: { fields: listOf(words(64), 16) },
  off_curve_server_key: {},
  two_server_keys: {},
  unparseable_expiry: { text: withDefault(words(256), 'soon') },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Reader<unknown>>>>>;

export type FaultKind = keyof typeof parameters;

type Parameters<K extends FaultKind> = {
  readonly [P in keyof (typeof parameters)[K]]: (typeof parameters)[K][P] extends Reader<infer T> ? T : never;
};

/** What goes wrong. */
export type Trouble = { [K in FaultKind]: { readonly kind: K } & Parameters<K> }[FaultKind];

/** What goes wrong, for whom, and how often; without `times`, until it is cleared. */
export type Fault = Trouble & {
  readonly operation: (typeof operations)[number] | undefined;
  readonly merchant: string | undefined;
  readonly times: number | undefined;
};

/**
 * A call meets at most one fault of each family. Those of `answer` therefore occur one after the other, like a script;
 * time and clock are what happens meanwhile.
 */
export type FaultFamily = 'time' | 'clock' | 'answer';

export function familyOf(kind: FaultKind): FaultFamily {
  if (kind === 'latency' || kind === 'hold') return 'time';
  return kind === 'clock_skew' ? 'clock' : 'answer';
}

const kinds = Object.keys(parameters) as FaultKind[];
const scope = {
  operation: optional(oneOf(operations)),
  merchant: optional(merchantId),
  times: optional(wholeNumber(1, 1_000_000)),
};
const readers = Object.fromEntries(
  Object.entries(parameters).map(([kind, own]) => [kind, shape({ kind: oneOf(kinds), ...scope, ...own })]),
) as Readonly<Record<FaultKind, Reader<unknown>>>;

/** @throws BrokerError `invalid_request` that lists every mistake in the fault's description */
export function readFault(value: unknown): Fault {
  return readInput((input, path) => {
    const kind = oneOf(kinds)((input as { readonly kind?: unknown } | null | undefined)?.kind, 'kind');
    // The table gives each kind its members, but the compiler cannot follow their union here.
    return readers[kind](input, path) as Fault;
  }, value);
}
