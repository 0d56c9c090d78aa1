import { createPublicKey, type JsonWebKey, KeyObject } from 'node:crypto';
import {
  createLocalJWKSet,
  type CryptoKey,
  errors,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';
import type { Clock, ScheduledTask } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { fetchPublished, keysOf, type PublishedPlace, usableKeys, whatIsWrong } from '#libs/issuer';
import type { Logger } from '#libs/telemetry';

type KeyFinder = ReturnType<typeof createLocalJWKSet>;

/** Finds the key that a token names. */
export interface KeySet {
  /**
   * @throws JOSEError when there is no such key, BrokerError `authentication_unavailable` when that cannot be
   *   determined
   */
  find(header: JWSHeaderParameters, token: FlattenedJWSInput): ReturnType<KeyFinder>;
  /** Whether the key is in the set now. @param key as returned by `keyName` */
  has(key: string): boolean;
  /**
   * Starts fetching the keys before any token needs them, unless they have been requested before; a failure is logged.
   * Does not wait.
   */
  fetchAhead?(): void;
  /** Nothing is fetched after this. */
  close?(): void;
}

/** Identifies a public key, however its set writes it. */
export function keyName(key: CryptoKey | KeyObject): string {
  const known = key instanceof KeyObject ? key : KeyObject.from(key);
  return known.export({ type: 'spki', format: 'der' }).toString('base64');
}

/** Keys from a file. */
export class FixedKeySet implements KeySet {
  readonly #finder: KeyFinder;
  readonly #names: ReadonlySet<string>;

  /** @throws JOSEError for anything that is not a key set */
  constructor(set: object) {
    this.#finder = createLocalJWKSet(set as JSONWebKeySet);
    this.#names = new Set((set as { keys: readonly JsonWebKey[] }).keys.flatMap((jwk) => namesOf(jwk)));
  }

  has(key: string): boolean {
    return this.#names.has(key);
  }

  find(header: JWSHeaderParameters, token: FlattenedJWSInput): ReturnType<KeyFinder> {
    return this.#finder(header, token);
  }
}

/** How often the keys are fetched again: while the issuer answers, a revoked key stays valid for at most this long. */
const FRESH_MS = 600_000;
/** While the issuer does not answer, the last keys stay in use for this long. */
const MAX_STALE_MS = 86_400_000;
/** Tokens that name unknown keys, and an issuer that is down, cause at most one request in this time. */
const COOL_DOWN_MS = 30_000;
/** While there are no keys at all, only the issuer needs protecting. */
const FIRST_COOL_DOWN_MS = 1_000;

/** A page in docs/runbooks. */
const RUNBOOK = 'authentication-unavailable';

export interface RemoteKeySetParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** @throws BrokerError `authentication_unavailable` */
  readonly load: () => Promise<object>;
  /** The issuer's keys have changed: the key that vouched for a caller may be gone. */
  readonly onChange: () => void;
}

interface Fetched {
  readonly text: string;
  readonly keys: FixedKeySet;
  readonly atMs: number;
}

/**
 * The keys that an issuer publishes. They are first fetched ahead or for the first token, and after that when they are
 * old, whether or not anyone calls, and when a token names an unknown one. They are kept while the issuer is down.
 * There is one request at a time, and few overall, whatever tokens arrive.
 */
export class RemoteKeySet implements KeySet {
  #fetched: Fetched | undefined;
  /** Why the last request brought nothing. */
  #failure: BrokerError | undefined;
  #askedAtMs = -Infinity;
  #asking: Promise<void> | undefined;
  #isWithoutUsableKey = false;
  #next: ScheduledTask | undefined;
  #closed = false;

  constructor(private readonly parts: RemoteKeySetParts) {}

  has(key: string): boolean {
    return this.#known()?.keys.has(key) === true;
  }

  fetchAhead(): void {
    if (!this.#closed && this.#askedAtMs === -Infinity) void this.#ask();
  }

  close(): void {
    this.#closed = true;
    this.#next?.cancel();
  }

  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): ReturnType<KeyFinder> {
    if (this.#known() === undefined) await this.#askAfter(FIRST_COOL_DOWN_MS);
    const known = this.#known();
    if (known === undefined) throw this.#failure ?? unavailable();
    try {
      return await known.keys.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // If the issuer does not answer, the known keys stay as they are, and the token's key is not among them.
      await this.#askAfter(COOL_DOWN_MS);
      return await (this.#fetched ?? known).keys.find(header, token);
    }
  }

  #known(): Fetched | undefined {
    const known = this.#fetched;
    return known === undefined || this.parts.clock.monotonicMs() - known.atMs > MAX_STALE_MS ? undefined : known;
  }

  /** Callers that wait share the request and, briefly, its failure. */
  async #askAfter(coolDownMs: number): Promise<void> {
    const isCool = this.parts.clock.monotonicMs() - this.#askedAtMs >= coolDownMs;
    if (this.#asking !== undefined || isCool) await this.#ask();
  }

  #ask(): Promise<void> {
    this.#asking ??= this.#fetch().finally(() => {
      this.#asking = undefined;
      this.#next?.cancel();
      if (this.#closed) return;
      const pauseMs = this.#failure === undefined ? FRESH_MS : COOL_DOWN_MS;
      this.#next = this.parts.clock.schedule(pauseMs, () => void this.#ask());
    });
    return this.#asking;
  }

  async #fetch(): Promise<void> {
    const { clock, load, onChange } = this.parts;
    this.#askedAtMs = clock.monotonicMs();
    const wasDown = this.#failure !== undefined;
    try {
      const set = await load();
      const before = this.#fetched?.text;
      this.#fetched = { text: JSON.stringify(set), keys: new FixedKeySet(set), atMs: clock.monotonicMs() };
      this.#failure = undefined;
      if (before !== undefined && before !== this.#fetched.text) onChange();
      if (wasDown && !this.#closed) this.parts.logger.info({}, 'the keys of the token issuer can be had again');
      this.#reportUsable(set);
    } catch (error) {
      this.#failure = isUnavailable(error) ? error : unavailable(error);
      if (!wasDown) this.#reportDown(error);
    }
  }

  /** An outage is reported once, and so is its end. */
  #reportDown(error: unknown): void {
    if (this.#closed) return;
    const effect =
      this.#known() === undefined
        ? 'no token of it is accepted until they come, and its callers are answered 503'
        : 'known keys go on for a day';
    const line = `the keys of the token issuer cannot be had; ${effect}`;
    this.parts.logger.warn({ error, runbook: RUNBOOK }, line);
  }

  /** A set without keys counts, as that may be how an issuer revokes them all; but it is unlikely to be intended. */
  #reportUsable(set: object): void {
    const isWithout = usableKeys(keysOf(set) ?? []).length === 0;
    if (isWithout === this.#isWithoutUsableKey || this.#closed) return;
    this.#isWithoutUsableKey = isWithout;
    const { logger } = this.parts;
    if (isWithout)
      logger.warn(
        { runbook: RUNBOOK },
        'none of the keys that the token issuer publishes can be used to check a token; no token of it is accepted, and its callers are answered 401',
      );
    else logger.info({}, 'the token issuer publishes keys that tokens can be checked with again');
  }
}

/** A key that cannot be read has no name: nothing it signs is accepted. */
function namesOf(jwk: JsonWebKey): readonly string[] {
  try {
    return [keyName(createPublicKey({ key: jwk, format: 'jwk' }))];
  } catch {
    return [];
  }
}

function isUnavailable(error: unknown): error is BrokerError {
  return error instanceof BrokerError && error.code === 'authentication_unavailable';
}

function unavailable(cause?: unknown): BrokerError {
  const detail = 'the keys of the token issuer cannot be had';
  return new BrokerError('authentication_unavailable', { detail, retryAfterMs: FIRST_COOL_DOWN_MS, cause });
}

/**
 * Fetches a JSON Web Key Set.
 * @throws BrokerError `authentication_unavailable`, whose detail says what is wrong and what to do, and nothing about
 *   the token
 */
export async function fetchKeySet(place: PublishedPlace, clock: Clock): Promise<object> {
  const fetched = await fetchPublished(place, { clock });
  if (fetched.kind === 'document') return fetched.document;
  const { problem, remedy } = whatIsWrong(fetched, place);
  throw new BrokerError('authentication_unavailable', { detail: `the key set did not come: ${problem}; ${remedy}` });
}
