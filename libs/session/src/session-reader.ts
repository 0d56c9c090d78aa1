import { type RenewalResult } from './ports/session-store.js';
import { type Clock, Deadline, msBetween } from '#libs/clock';
import { ChangeWait } from './change-wait.js';
import { decideRenewal, decideServing, type RenewVerdict, type ServeVerdict } from './decisions.js';
import { followed, type ReplicaFace } from './face.js';
import type { RecordedFailure } from './ports/session-store.js';
import { SessionUnavailable } from './session-unavailable.js';
import type { Session } from './session.js';
import { isStoreOutage } from './store-health.js';

/** For when nothing tells when a session can be expected. */
const RETRY_AFTER_UNKNOWN_MS = 1_000;

interface ReadWish {
  readonly merchant: string;
  /** Renew first when less than this is left; 0 when any session will do. */
  readonly minRemainingMs: number;
  /** How long the reader waits when there is nothing to serve. */
  readonly waitMs: number;
  /** Whether to keep waiting although the attempt under way has failed. */
  readonly waitsThroughFailure: boolean;
  readonly signal: AbortSignal;
}

export type ServedSession = {
  readonly session: Session;
  readonly verdict: Exclude<ServeVerdict, { result: 'unavailable' }>;
};

interface SessionReaderContext extends ReplicaFace {
  readonly clock: Clock;
}

/**
 * Answers reads from memory. A read starts a renewal if it finds nothing, or less than it wants; all who find nothing
 * at the same time wait for the same attempt. A valid session is never withheld because a renewal is slow.
 */
export class SessionReader {
  readonly #context: SessionReaderContext;

  constructor(context: SessionReaderContext) {
    this.#context = context;
  }

  /** What memory holds, without waiting or renewing; undefined when there is nothing to serve. */
  peek(merchant: string): ServedSession | undefined {
    const verdict = this.verdict(merchant);
    const session = this.#context.held.get(merchant);
    return verdict.result === 'unavailable' || session === undefined ? undefined : { session, verdict };
  }

  /** Whether the merchant's session would be served now, and why. */
  verdict(merchant: string): ServeVerdict {
    return decideServing(this.#context.held.facts(merchant));
  }

  /**
   * The session to use now.
   * @throws BrokerError `session_unavailable` with the time after which to ask again
   */
  async read(wish: ReadWish): Promise<ServedSession> {
    await this.#confirmClock(wish.merchant);
    const verdict = this.#renewVerdict(wish);
    switch (verdict.renew) {
      case 'no':
        await this.#waitForReplacement(wish);
        break;
      case 'background':
        this.#renewInBackground(wish);
        break;
      case 'wait':
        await this.#waitForRenewal(wish);
        break;
    }
    return this.peek(wish.merchant) ?? this.#refuse(wish.merchant);
  }

  /** Starts a renewal if there is nothing to serve, for a caller who will hear the outcome. */
  demand(merchant: string): void {
    if (this.verdict(merchant).result !== 'unavailable') return;
    this.#confirmClock(merchant)
      .then(() => this.verdict(merchant).result === 'unavailable' && this.#renewInBackground({ merchant }))
      .catch((error: unknown) => this.#context.driver.reportBroken('demand', error));
  }

  /**
   * The first session of a generation above `generation`; undefined if none came within `waitMs` or before an abort.
   */
  async newerThan(
    generation: number,
    wish: Pick<ReadWish, 'merchant' | 'waitMs' | 'signal'>,
  ): Promise<Session | undefined> {
    const { clock, held } = this.#context;
    const deadline = new Deadline(clock, wish.waitMs, wish.signal);
    const change = new ChangeWait(held.entryOf(wish.merchant), {
      generation,
      orFailure: false,
      signal: deadline.signal,
    });
    try {
      await change.ended;
    } finally {
      change.end();
      deadline.close();
    }
    const served = this.peek(wish.merchant);
    return served !== undefined && served.session.generation > generation ? served.session : undefined;
  }

  #renewVerdict(wish: ReadWish): RenewVerdict {
    const session = this.#context.held.get(wish.merchant);
    return decideRenewal({
      ...this.#context.held.facts(wish.merchant),
      ageMs: this.#context.held.ageMs(wish.merchant),
      lifetimeMs: session === undefined ? 0 : msBetween(session.createdAt, session.expiresAt),
      minRemainingMs: wish.minRemainingMs,
    });
  }

  #renewAndFollow({ merchant }: Pick<ReadWish, 'merchant'>): Promise<RenewalResult> {
    return followed(this.#context, merchant, { trigger: 'demand' });
  }

  /**
   * A wall clock that jumped makes valid sessions look expired: the store knows, and no session is created before it
   * has been asked.
   */
  async #confirmClock(merchant: string): Promise<void> {
    if (this.#context.held.storeClock.driftMs === 0) return;
    try {
      await this.#context.driver.lookUp(merchant);
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
    }
  }

  #renewInBackground(wish: Pick<ReadWish, 'merchant'>): void {
    this.#renewAndFollow(wish).catch((error: unknown) =>
      this.#context.driver.reportBroken('background renewal', error),
    );
  }

  async #waitForRenewal(wish: ReadWish): Promise<void> {
    const { clock, held } = this.#context;
    const { merchant, waitsThroughFailure } = wish;
    const generation = held.generationOf(merchant);
    const deadline = new Deadline(clock, wish.waitMs, wish.signal);
    const awaited = { generation, orFailure: !waitsThroughFailure, signal: deadline.signal };
    const change = new ChangeWait(held.entryOf(merchant), awaited);
    try {
      const result = await Promise.race([this.#renewAndFollow(wish), change.ended]);
      // No result: something changed, or the time is up. `held`: another replica is working on it and will announce it.
      if (result === undefined) return;
      if (waitsThroughFailure || result.kind === 'held') await change.ended;
    } finally {
      change.end();
      deadline.close();
    }
  }

  /** Whoever waits anyway is not given what is reported dead, unless something lasting keeps it from being replaced. */
  async #waitForReplacement({ merchant, waitsThroughFailure, ...wish }: ReadWish): Promise<void> {
    const { held: sessions } = this.#context;
    const { held, report, failure } = sessions.of(merchant);
    const isHeldUp = report?.heldUp !== undefined || failure !== undefined;
    if (!waitsThroughFailure || held?.isReported !== true || isHeldUp) return;
    await this.newerThan(held.session.generation, { merchant, ...wish });
  }

  #refuse(merchant: string): never {
    const { held, driver } = this.#context;
    const verdict = this.verdict(merchant);
    const { failure } = held.of(merchant);
    throw new SessionUnavailable(this.#context, {
      merchant,
      detail: describeRefusal(merchant, verdict, failure),
      retryAfterMs: driver.retryAfterMs(merchant) ?? RETRY_AFTER_UNKNOWN_MS,
    });
  }
}

function describeRefusal(merchant: string, verdict: ServeVerdict, failure: RecordedFailure | undefined): string {
  const cause =
    failure === undefined ? '' : `, last attempt ${failure.kind}${failure.msgCode ? ` (${failure.msgCode})` : ''}`;
  return `merchant ${merchant}: ${verdict.reason}${cause}`;
}
