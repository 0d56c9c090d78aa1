import type { ClientEventListener } from './client-event.js';
import { InvalidInput } from './errors.js';
import type { Fetch } from './fetch.js';
import { systemTime, type Time } from './time.js';
import { demandToken, type TokenSource } from './token-source.js';

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
   * How newer sessions arrive: `events` (the default), or `none`. With `none`, nothing happens between calls: for
   * programs that read one session and exit.
   */
  readonly follow?: 'events' | 'none' | undefined;
  /** How long a call may take in total, including retries, in milliseconds; 15 s by default. */
  readonly timeoutMs?: number | undefined;
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
export interface Settings extends Pick<SessionBrokerOptions, 'merchant' | 'auth' | 'onEvent'> {
  readonly brokerUrl: string;
  readonly merchantUrl: string;
  readonly fetch: Fetch;
  readonly gateway: { readonly url: string; readonly timeoutMs: number; readonly fetch: Fetch } | undefined;
  readonly follow: 'events' | 'none';
  readonly timeoutMs: number;
  readonly time: Time;
  readonly random: () => number;
}

/** A missing value was usually meant to come from one. */
export const IS_IT_SET = 'is its environment variable set?';
const OPTIONS = ['url', 'merchant', 'auth', 'fetch', 'gateway', 'follow', 'timeoutMs', 'onEvent', 'time', 'random'];
const FOLLOW = ['events', 'none'];
const BEYOND_THE_BROKER = /\/v1(?:\/merchants(?:\/.*)?)?\/*$/;
const MAX_TIMEOUT_MS = 3_600_000;
/** Longer than the gateway takes. */
const GATEWAY_TIMEOUT_MS = 45_000;
// Looked up at each call, so that instrumentation that replaces it later is not bypassed.
const platformFetch: Fetch = (url, init) => globalThis.fetch(url, init);

/** @throws InvalidInput `option_invalid` or `token_invalid`, which name the option and never its value */
export function settingsFrom(options: SessionBrokerOptions): Settings {
  demandKnownOptions(options, OPTIONS);
  const { merchant, auth, gateway, follow = 'events', timeoutMs = 15_000, fetch = platformFetch, onEvent } = options;
  const { time = systemTime, random = Math.random } = options;
  demandMerchant(merchant);
  const brokerUrl = baseUrlOf(options.url, 'url');
  if (BEYOND_THE_BROKER.test(new URL(brokerUrl).pathname)) {
    throw invalid('url ends before /v1: the client adds what follows');
  }
  const merchantUrl = `${brokerUrl}/v1/merchants/${encodeURIComponent(merchant)}`;
  demandAuth(auth);
  if (!FOLLOW.includes(follow)) throw invalid('follow must be events or none');
  demandFunctions({ fetch, random, ...(onEvent === undefined ? {} : { onEvent }) });
  demandTimeout(timeoutMs);
  const urls = { brokerUrl, merchantUrl, gateway: gatewayFrom(gateway) };
  return { ...urls, merchant, auth, follow, timeoutMs, fetch, onEvent, time, random };
}

function gatewayFrom(given: GatewayOptions | undefined): Settings['gateway'] {
  if (given === undefined) return undefined;
  demandKnownOptions(given, ['url', 'timeoutMs', 'fetch']);
  const { timeoutMs = GATEWAY_TIMEOUT_MS, fetch = platformFetch } = given;
  demandTimeout(timeoutMs);
  demandFunctions({ fetch });
  return { url: baseUrlOf(given.url, 'gateway.url'), timeoutMs, fetch };
}

function demandAuth(auth: unknown): void {
  if (auth === '') throw new InvalidInput('token_invalid', `auth is empty, and no bearer token: ${IS_IT_SET}`);
  if (typeof auth === 'string') demandToken(auth);
  else if (auth !== undefined) demandFunctions({ auth });
}

function demandFunctions(given: object): void {
  const wrong = Object.entries(given).find(([, value]) => typeof value !== 'function');
  if (wrong !== undefined) throw invalid(`${wrong[0]} must be a function`);
}

function demandTimeout(ms: number): void {
  if (!(ms > 0 && ms <= MAX_TIMEOUT_MS)) throw invalid('timeoutMs must be more than 0, up to an hour');
}

function baseUrlOf(given: unknown, name: string): string {
  if (isMissing(given)) throw invalid(`${name} is missing: ${IS_IT_SET}`);
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw invalid(`${name} must be a URL that begins with http:// or https://, such as http://127.0.0.1:8080`);
  }
  if (url.username + url.password + url.search + url.hash !== '') {
    throw invalid(`${name} must hold no credential, query or fragment`);
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function demandMerchant(given: unknown): void {
  if (isMissing(given)) throw invalid(`merchant is missing: ${IS_IT_SET}`);
  if (typeof given !== 'string' || given.trim() !== given) {
    throw invalid('merchant must be the id of a merchant, without white space around it: trim what comes from a file');
  }
}

const isMissing = (given: unknown): boolean => given === undefined || given === null || given === '';

/** An option with an unknown name would have no effect, and nobody would notice. @throws InvalidInput */
function demandKnownOptions(options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) {
    throw invalid(`The options must be an object, with ${known.join(', ')}`);
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const shown = /^\w{1,40}$/.test(unknown) ? ` "${unknown}"` : ' of that name';
  throw invalid(`There is no option${shown}: there are ${known.join(', ')}`);
}

export function invalid(fault: string): InvalidInput {
  return new InvalidInput('option_invalid', fault);
}
