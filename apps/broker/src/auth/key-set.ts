import { createLocalJWKSet, errors, type JSONWebKeySet, type JWSHeaderParameters, type FlattenedJWSInput } from 'jose';
import type { Clock } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import type { Logger } from '#libs/telemetry';

type KeyFinder = ReturnType<typeof createLocalJWKSet>;

/** Where the key that a token names is found. */
export interface KeySet {
  /** @throws JOSEError when there is no such key, BrokerError `authentication_unavailable` when that cannot be told */
  find(header: JWSHeaderParameters, token: FlattenedJWSInput): ReturnType<KeyFinder>;
}

/** The keys of a file. */
export class FixedKeySet implements KeySet {
  readonly #finder: KeyFinder;

  /** @throws JOSEError for what is no key set */
  constructor(set: object) {
    this.#finder = createLocalJWKSet(set as JSONWebKeySet);
  }

  find(header: JWSHeaderParameters, token: FlattenedJWSInput): ReturnType<KeyFinder> {
    return this.#finder(header, token);
  }
}

/** From then on the keys are fetched again in the background. */
const FRESH_MS = 600_000;
/** The last keys stay in use for this long while the issuer does not answer. */
const MAX_STALE_MS = 86_400_000;
/** Tokens that name unknown keys, and an issuer that is down, cost at most one request in this time. */
const COOL_DOWN_MS = 30_000;
/** With no keys at all there is nothing to protect but the issuer. */
const FIRST_COOL_DOWN_MS = 1_000;

interface RemoteKeySetParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** @throws BrokerError `authentication_unavailable` */
  readonly load: () => Promise<object>;
  /** The issuer has other keys than before. */
  readonly onChange: () => void;
}

interface Fetched {
  readonly text: string;
  readonly keys: FixedKeySet;
  readonly atMs: number;
}

/**
 * The keys that an issuer publishes. They are fetched for the first token, again when they are old or a token names a
 * new one, and kept while the issuer is down. There is one request at a time, and few of them, whatever tokens come.
 */
export class RemoteKeySet implements KeySet {
  readonly #parts: RemoteKeySetParts;
  #fetched: Fetched | undefined;
  #askedAtMs = -Infinity;
  #asking: Promise<void> | undefined;
  #isDown = false;

  constructor(parts: RemoteKeySetParts) {
    this.#parts = parts;
  }

  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): ReturnType<KeyFinder> {
    const known = await this.#current();
    try {
      return await known.keys.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !this.#mayAsk(COOL_DOWN_MS)) throw error;
      const newer = await this.#refreshed(known);
      return await newer.keys.find(header, token);
    }
  }

  async #current(): Promise<Fetched> {
    const known = this.#fetched;
    const ageMs = known === undefined ? Infinity : this.#parts.clock.monotonicMs() - known.atMs;
    if (known === undefined || ageMs > MAX_STALE_MS) return this.#first();
    if (ageMs > FRESH_MS && this.#mayAsk(COOL_DOWN_MS)) void this.#ask().catch(() => 'logged where it happened');
    return known;
  }

  /** Those who wait for the first keys share the request, and its failure for a moment. */
  async #first(): Promise<Fetched> {
    this.#fetched = undefined;
    if (this.#asking === undefined && !this.#mayAsk(FIRST_COOL_DOWN_MS)) throw this.#unavailable();
    await this.#ask();
    if (this.#fetched === undefined) throw this.#unavailable();
    return this.#fetched;
  }

  /** An issuer that does not answer leaves the known keys as they are: then the token's key is not among them. */
  async #refreshed(known: Fetched): Promise<Fetched> {
    try {
      await this.#ask();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
    return this.#fetched ?? known;
  }

  #mayAsk(coolDownMs: number): boolean {
    return this.#asking !== undefined || this.#parts.clock.monotonicMs() - this.#askedAtMs >= coolDownMs;
  }

  #ask(): Promise<void> {
    this.#asking ??= this.#fetch().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #fetch(): Promise<void> {
    const { clock, load, onChange } = this.#parts;
    this.#askedAtMs = clock.monotonicMs();
    try {
      const set = await load();
      const before = this.#fetched?.text;
      this.#fetched = { text: JSON.stringify(set), keys: new FixedKeySet(set), atMs: clock.monotonicMs() };
      if (before !== undefined && before !== this.#fetched.text) onChange();
      this.#report(undefined);
    } catch (error) {
      this.#report(error);
      throw isUnavailable(error) ? error : this.#unavailable(error);
    }
  }

  /** An outage is reported once, and so is its end. */
  #report(error: unknown): void {
    const isDown = error !== undefined;
    if (isDown === this.#isDown) return;
    this.#isDown = isDown;
    const { logger } = this.#parts;
    if (isDown) logger.warn({ error }, 'the keys of the token issuer cannot be had; known keys go on for a day');
    else logger.info({}, 'the keys of the token issuer can be had again');
  }

  #unavailable(cause?: unknown): BrokerError {
    return new BrokerError('authentication_unavailable', {
      detail: 'the keys of the token issuer cannot be had',
      retryAfterMs: FIRST_COOL_DOWN_MS,
      ...(cause === undefined ? {} : { cause }),
    });
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof BrokerError && error.code === 'authentication_unavailable';
}
