import type { ClientEventListener } from './client-event.js';
import { InvalidInput } from './errors.js';
import type { Fetch } from './fetch.js';
import { systemTime, type Time } from './time.js';
import { demandToken, type TokenSource } from './token-source.js';
import type { TraceHeaders } from './trace-headers.js';

/** Options of `new SessionBroker`: `url`, `merchant`, and `auth` unless a client certificate identifies the caller. */
export interface SessionBrokerOptions {
  /** The broker's URL, such as `https://broker.internal:8080`, with a path if it is served under one. */
  readonly url: string;
  /** The merchant's id in the broker's configuration, such as `shop`. */
  readonly merchant: string;
  /** The bearer token. Not needed if a client certificate identifies the caller. */
  readonly auth?: TokenSource | undefined;
  /** The platform's by default. Pass your own for mutual TLS, a proxy or a private CA. */
  readonly fetch?: Fetch | undefined;
  /** The bank's gateway, for `fetch` and `lookUp`. */
  readonly gateway?: GatewayOptions | undefined;
  /**
   * How newer sessions arrive: `events` (the default; falls back to long poll), `poll`, or `none`. With `none`, nothing
   * happens between calls: for programs that read one session and exit.
   */
  readonly follow?: 'events' | 'poll' | 'none' | undefined;
  /**
   * Whether `withSession` briefly holds new calls while the broker replaces the session, so that none of them is
   * refused; true by default. Requires `follow: 'events'`.
   */
  readonly handover?: boolean | undefined;
  /** The remaining lifetime that a session should have, in milliseconds; 0 by default. Each call can override it. */
  readonly minRemainingMs?: number | undefined;
  /** How long a call may take in total, including retries, in milliseconds; 15 s by default. */
  readonly timeoutMs?: number | undefined;
  /** Headers that propagate a trace: `() => { const headers = {}; propagation.inject(context.active(), headers); return headers; }` */
  readonly traceHeaders?: TraceHeaders | undefined;
  /** For logs and metrics. */
  readonly onEvent?: ClientEventListener | undefined;
  /** For tests: virtual time, and the randomness of the back-off. */
  readonly time?: Time | undefined;
  readonly random?: (() => number) | undefined;
}

/** Where payments go, and how. */
export interface GatewayOptions {
  /** The gateway's base URL. */
  readonly url: string;
  /** How long one request may take to the end of its answer, in milliseconds; 45 s by default. */
  readonly timeoutMs?: number | undefined;
  /** The platform's by default. It must not repeat a request by itself. */
  readonly fetch?: Fetch | undefined;
}

/** The options as they are used: checked, with the defaults in. */
export type Settings = Pick<SessionBrokerOptions, 'merchant' | 'auth' | 'traceHeaders' | 'onEvent'> & {
  readonly [Name in keyof typeof defaults]: NonNullable<SessionBrokerOptions[Name]>;
} & { readonly brokerUrl: string; readonly merchantUrl: string; readonly gateway: Gateway | undefined };

export type Gateway = { readonly [Name in keyof GatewayOptions]-?: NonNullable<GatewayOptions[Name]> };

/** A missing value was usually meant to come from one. */
export const IS_IT_SET = 'is its environment variable set?';
const OPTIONS: readonly (keyof SessionBrokerOptions)[] = [
  ...(['url', 'merchant', 'auth', 'fetch', 'gateway', 'follow', 'handover'] as const),
  ...(['minRemainingMs', 'timeoutMs', 'traceHeaders', 'onEvent'] as const),
];
/** Accepted, but named in no message: a service has no use for them. */
const FOR_TESTS: readonly (keyof SessionBrokerOptions)[] = ['time', 'random'];
const FUNCTIONS = ['fetch', 'onEvent', 'traceHeaders', 'random'] as const;
const FOLLOW = ['events', 'poll', 'none'];
const BEYOND_THE_BROKER = /\/v1(?:\/merchants(?:\/.*)?)?\/*$/;
const MAX_TIMEOUT_MS = 3_600_000;
/** Longer than the gateway takes. */
const GATEWAY_TIMEOUT_MS = 45_000;

const defaults = {
  // Looked up at each call, so that instrumentation that replaces it later is not bypassed.
  fetch: ((url, init) => globalThis.fetch(url, init)) as Fetch,
  follow: 'events' as const,
  handover: true,
  minRemainingMs: 0,
  timeoutMs: 15_000,
  time: systemTime,
  random: Math.random,
};

/** @throws InvalidInput `option_invalid` or `token_invalid`, which name the option and never its value */
export function settingsFrom(options: SessionBrokerOptions): Settings {
  demandKnownOptions(options ?? null, OPTIONS, FOR_TESTS);
  const { url, gateway, ...given } = options;
  const { merchant } = given;
  demandMerchant(merchant);
  const brokerUrl = baseUrlOf(url, 'url');
  if (BEYOND_THE_BROKER.test(new URL(brokerUrl).pathname))
    throw invalid('url ends before /v1: the client adds what follows');
  const merchantUrl = `${brokerUrl}/v1/merchants/${encodeURIComponent(merchant)}`;
  // Members given as undefined are dropped, so that they do not hide a default.
  const defined = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const urls = { brokerUrl, merchantUrl, gateway: gatewayFrom(gateway) };
  const settings = { ...defaults, ...defined, ...urls, merchant } as Settings;
  demandUsable(settings);
  return settings;
}

function demandUsable(settings: Settings): void {
  const { auth, follow, handover, minRemainingMs, timeoutMs } = settings;
  const wrong = FUNCTIONS.find((name) => !['function', 'undefined'].includes(typeof settings[name]));
  if (wrong !== undefined) throw invalid(`${wrong} must be a function`);
  if (auth !== undefined && typeof auth !== 'string' && typeof auth !== 'function') {
    throw invalid('auth must be a token, or a function that gives one');
  }
  if (auth === '') throw new InvalidInput('token_invalid', `auth is empty, and no bearer token: ${IS_IT_SET}`);
  if (typeof auth === 'string') demandToken(auth);
  if (typeof handover !== 'boolean') throw invalid('handover must be true or false');
  if (!FOLLOW.includes(follow)) throw invalid('follow must be events, poll or none');
  demandTimeout(timeoutMs);
  demandMinRemaining(minRemainingMs);
}

function gatewayFrom(given: GatewayOptions | undefined): Gateway | undefined {
  if (given === undefined) return undefined;
  demandKnownOptions(given, ['url', 'timeoutMs', 'fetch']);
  const { timeoutMs = GATEWAY_TIMEOUT_MS, fetch = defaults.fetch } = given;
  demandTimeout(timeoutMs);
  if (typeof fetch !== 'function') throw invalid('fetch must be a function');
  return { url: baseUrlOf(given.url, 'gateway.url'), timeoutMs, fetch };
}

function demandTimeout(ms: number): void {
  if (!(ms > 0 && ms <= MAX_TIMEOUT_MS)) throw invalid('timeoutMs must be more than 0, up to an hour');
}

/** The broker accepts at most an hour. @throws InvalidInput `option_invalid` */
export function demandMinRemaining(ms: number): void {
  if (!(ms >= 0 && ms <= 3_600_000)) throw invalid('minRemainingMs must be from 0 to an hour');
}

function baseUrlOf(given: unknown, name: string): string {
  const url = webUrlOf(given, name);
  if (url.username !== '' || url.password !== '') throw invalid(`${name} must hold no credential`);
  if (url.search !== '' || url.hash !== '') throw invalid(`${name} must have neither query nor fragment`);
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function demandMerchant(given: unknown): void {
  if (isMissing(given)) throw invalid(`merchant is missing: ${IS_IT_SET}`);
  if (typeof given !== 'string') throw invalid('merchant must be the id of a merchant');
  if (given.trim() !== given) throw invalid('merchant begins or ends with white space: trim what comes from a file');
}

const isMissing = (given: unknown): boolean => given === undefined || given === null || given === '';

function webUrlOf(given: unknown, name: string): URL {
  if (isMissing(given)) throw invalid(`${name} is missing: ${IS_IT_SET}`);
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw invalid(`${name} must be a URL that begins with http:// or https://, such as http://127.0.0.1:8080`);
}

/**
 * A setting with an unknown name would have no effect, and nobody would notice.
 * @param unnamed are accepted too, but appear in no message
 * @throws InvalidInput `option_invalid`
 */
export function demandKnownOptions(options: unknown, known: readonly string[], unnamed: readonly string[] = []): void {
  if (options === undefined) return;
  if (typeof options !== 'object' || options === null) {
    throw invalid(`The options must be an object, with ${known.join(', ')}`);
  }
  const names = Object.keys(options).filter((name) => !unnamed.includes(name));
  demandKnownNames(names, known);
}

/** @throws InvalidInput `option_invalid` */
export function demandKnownNames(given: readonly string[], known: readonly string[], kind = 'option'): void {
  const unknown = given.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const shown = /^\w{1,40}$/.test(unknown) ? ` "${unknown}"` : ' of that name';
  throw invalid(`There is no ${kind}${shown}: there are ${known.join(', ')}`);
}

export function invalid(fault: string): InvalidInput {
  return new InvalidInput('option_invalid', fault);
}
