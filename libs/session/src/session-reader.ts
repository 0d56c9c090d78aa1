import { type Clock, Deadline, msBetween } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { ChangeWait } from './change-wait.js';
import type { FailureBoard } from './failure-board.js';
import { renewAndFollow } from './followed-renewal.js';
import type { HeldSessions } from './held-sessions.js';
import type { RecordedFailure } from './ports/session-store.js';
import { decideRenewal, EARLY_RENEWAL_COOL_DOWN_MS, type RenewVerdict } from './renew-decision.js';
import type { Renewer, RenewalResult } from './renewer.js';
import { decideServing, type ServeVerdict } from './serve-decision.js';
import type { SessionSync } from './session-sync.js';
import type { Session } from './session.js';
import { isStoreOutage } from './store-outage.js';

/** When nothing says when a session can be expected. */
const RETRY_AFTER_UNKNOWN_MS = 1_000;

export interface ReadWish {
  readonly merchant: string;
  /** Renew first when less than this is left; 0 when any session will do. */
  readonly minRemainingMs: number;
  /** How long the reader waits when there is nothing to serve. */
  readonly waitMs: number;
  /** Whether to wait on although the attempt under way has failed. */
  readonly patient: boolean;
  readonly signal: AbortSignal;
}

export type ServedSession = {
  readonly session: Session;
  readonly verdict: Exclude<ServeVerdict, { result: 'unavailable' }>;
};

export interface SessionReaderParts {
  readonly held: HeldSessions;
  readonly failures: FailureBoard;
  readonly renewer: Renewer;
  readonly sync: SessionSync;
  readonly clock: Clock;
}

/**
 * Answers reads from memory. A read sets a renewal going when it finds nothing, or less than it wants; whoever finds
 * nothing at the same time waits for the same attempt. A valid session is never withheld because a renewal is slow.
 */
export class SessionReader {
  readonly #parts: SessionReaderParts;

  constructor(parts: SessionReaderParts) {
    this.#parts = parts;
  }

  /** What memory holds, without waiting or renewing; undefined when there is nothing to serve. */
  peek(merchant: string): ServedSession | undefined {
    const verdict = this.verdict(merchant);
    const session = this.#parts.held.get(merchant);
    return verdict.result === 'unavailable' || session === undefined ? undefined : { session, verdict };
  }

  /** Whether the merchant's session would be served now, and for what reason. */
  verdict(merchant: string): ServeVerdict {
    return decideServing(this.#parts.held.facts(merchant));
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

  /** Sets a renewal going when there is nothing to serve, for somebody who will hear of what becomes of it. */
  demand(merchant: string): void {
    if (this.verdict(merchant).result !== 'unavailable') return;
    this.#confirmClock(merchant)
      .then(() => this.verdict(merchant).result === 'unavailable' && this.#renewInBackground({ merchant }))
      .catch((error: unknown) => this.#parts.sync.reportBroken('demand', error));
  }

  /** The first session of a generation above `generation`; undefined when none came within `waitMs` or on abort. */
  async newerThan(
    generation: number,
    wish: Pick<ReadWish, 'merchant' | 'waitMs' | 'signal'>,
  ): Promise<Session | undefined> {
    const { clock, held, failures } = this.#parts;
    const deadline = new Deadline(clock, wish.waitMs, wish.signal);
    const awaited = { merchant: wish.merchant, generation, orFailure: false, signal: deadline.signal };
    const change = new ChangeWait(held, failures, awaited);
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
    const session = this.#parts.held.get(wish.merchant);
    return decideRenewal({
      ...this.#parts.held.facts(wish.merchant),
      ageMs: this.#parts.held.ageMs(wish.merchant),
      lifetimeMs: session === undefined ? 0 : msBetween(session.createdAt, session.expiresAt),
      minRemainingMs: wish.minRemainingMs,
    });
  }

  #renewAndFollow({ merchant }: Pick<ReadWish, 'merchant'>): Promise<RenewalResult> {
    const { held } = this.#parts;
    const replacesLiving = held.facts(merchant).freshMs > 0;
    return renewAndFollow(this.#parts, {
      merchant,
      trigger: 'demand',
      newerThan: held.replaceable(merchant),
      coolDownMs: replacesLiving ? EARLY_RENEWAL_COOL_DOWN_MS : 0,
    });
  }

  /** A wall clock that jumped makes sessions look over that are not: the store knows, and no session is created before. */
  async #confirmClock(merchant: string): Promise<void> {
    if (this.#parts.held.storeClock.driftMs === 0) return;
    try {
      await this.#parts.sync.refresh(merchant);
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
    }
  }

  #renewInBackground(wish: Pick<ReadWish, 'merchant'>): void {
    this.#renewAndFollow(wish).catch((error: unknown) => this.#parts.sync.reportBroken('background renewal', error));
  }

  async #waitForRenewal(wish: ReadWish): Promise<void> {
    const { clock, held, failures } = this.#parts;
    const { merchant, patient } = wish;
    const generation = held.generationOf(merchant);
    const deadline = new Deadline(clock, wish.waitMs, wish.signal);
    const change = new ChangeWait(held, failures, {
      merchant,
      generation,
      orFailure: !patient,
      signal: deadline.signal,
    });
    try {
      const result = await Promise.race([this.#renewAndFollow(wish), change.ended]);
      // No result: something changed, or the time is up. `held`: another replica is at it and will announce.
      if (result === undefined) return;
      if (patient || result.kind === 'held') await change.ended;
    } finally {
      change.end();
      deadline.close();
    }
  }

  #refuse(merchant: string): never {
    const { failures, renewer } = this.#parts;
    const verdict = this.verdict(merchant);
    const failure = failures.get(merchant);
    throw new BrokerError('session_unavailable', {
      detail: describeRefusal(merchant, verdict, failure),
      retryAfterMs: renewer.retryInMs(merchant) ?? RETRY_AFTER_UNKNOWN_MS,
    });
  }
}

function describeRefusal(merchant: string, verdict: ServeVerdict, failure: RecordedFailure | undefined): string {
  const cause =
    failure === undefined ? '' : `, last attempt ${failure.kind}${failure.msgCode ? ` (${failure.msgCode})` : ''}`;
  return `merchant ${merchant}: ${verdict.reason}${cause}`;
}
