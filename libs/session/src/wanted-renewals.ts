import { Deadline } from '#libs/clock';
import { type Cause, type RefusedWish, storeRefusal } from './cause.js';
import { ChangeWait } from './change-wait.js';
import { renewAndFollow } from './followed-renewal.js';
import { KeptWishes } from './kept-wishes.js';
import type { StoreTrouble } from './merchant-condition.js';
import type { RenewalResult } from './renewal-result.js';
import type { Renewer } from './renewer.js';
import type { ReplicaContext } from './replica-context.js';
import type { SessionReader } from './session-reader.js';
import type { SessionSync } from './session-sync.js';
import { type Explainer, SessionUnavailable } from './session-unavailable.js';
import type { Session } from './session.js';
import { isStoreOutage } from './store-outage.js';

/** Two people paged for the same merchant want one session: for this long, the second is given the one just created. */
export const JUST_RENEWED_MS = 10_000;

/** For when nothing tells when a newer session can be expected. */
const RETRY_AFTER_UNKNOWN_MS = 1_000;

export interface WantedRenewal {
  readonly merchant: string;
  /** How long to wait for the newer session. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** One was created within the last seconds, and no call was made for this wish. */
interface JustRenewed {
  readonly kind: 'just_renewed';
  readonly session: Session;
  /** When asking again gets a newer one. */
  readonly retryInMs: number;
}

export type WantedRenewalAnswer = { readonly kind: 'renewed'; readonly session: Session } | JustRenewed;

interface AnsweredWish {
  readonly merchant: string;
  /** The one known when the wish came. */
  readonly generation: number;
  /** Whether an attempt that was already under way has failed, and no other was made for the wish. */
  readonly isJoined: boolean;
}

type WantedResult = RenewalResult | JustRenewed;

export interface WantedRenewalsContext
  extends Pick<ReplicaContext, 'held' | 'failures' | 'clock' | 'merchants'>, Explainer {
  readonly renewer: Renewer;
  readonly sync: SessionSync;
  readonly reader: SessionReader;
  /** Why a person gets no newer session now. */
  readonly whyRefused: (wish: RefusedWish) => Cause | undefined;
  readonly storeTrouble: () => StoreTrouble | undefined;
}

/**
 * Renewals that a person asks for because the reason for the failures is gone: the back-off does not hold them up.
 * Everything else does: the budget, the lease, the replica's ceiling. All who ask at once share one create call. A wish
 * refused only by the budget is kept by this replica, and made when a call is free.
 */
export class WantedRenewals {
  readonly #context: WantedRenewalsContext;
  readonly #underway = new Map<string, Promise<WantedResult>>();
  /** Merchants whose last attempt for a wish has begun: whoever asks now shares its outcome. */
  readonly #calling = new Set<string>();
  readonly #kept: KeptWishes;

  constructor(context: WantedRenewalsContext) {
    this.#context = context;
    this.#kept = new KeptWishes({
      ...context,
      make: (merchant, isStillKept) => this.#makeKept(merchant, isStillKept),
      onBroken: (error) => context.sync.reportBroken('wish for a renewal', error),
    });
  }

  /** Until a wish refused by the budget is made after all; undefined if none is kept. */
  keptForMs(merchant: string): number | undefined {
    return this.#kept.freeInMs(merchant);
  }

  forget(merchant: string): void {
    this.#kept.drop(merchant);
  }

  /** Drops what is kept, and keeps nothing any more. */
  close(): void {
    this.#kept.close();
  }

  /** @throws BrokerError `session_unavailable` when no newer session came in time; its reason says why */
  async renew({ merchant, waitMs, signal }: WantedRenewal): Promise<WantedRenewalAnswer> {
    const { clock, held, failures } = this.#context;
    const deadline = new Deadline(clock, waitMs, signal);
    const generation = held.known(merchant);
    const awaited = { merchant, generation, orFailure: true, signal: deadline.signal };
    const change = new ChangeWait(held, failures, awaited);
    const isShared = this.#calling.has(merchant);
    try {
      const result = await Promise.race([this.#shared(merchant), aborted(deadline.signal)]);
      const known = failures.get(merchant);
      // `held`: another replica is working on it, and announces the outcome.
      if (result?.kind === 'held') await change.ended;
      const isJoined = (isShared && result?.kind === 'failed') || failures.get(merchant) !== known;
      return this.#answer({ merchant, generation, isJoined }, result);
    } finally {
      change.end();
      deadline.close();
    }
  }

  #shared(merchant: string): Promise<WantedResult> {
    const underway = this.#underway.get(merchant);
    if (underway !== undefined) return underway;
    const renewal = this.#renew(merchant).finally(() => this.#underway.delete(merchant));
    this.#underway.set(merchant, renewal);
    return renewal;
  }

  /** An attempt that began before the wish may have failed on what has been fixed since: then another one follows. */
  async #renew(merchant: string): Promise<WantedResult> {
    const { renewer, held } = this.#context;
    await this.#lookUp(merchant);
    const young = this.#justRenewed(merchant);
    if (young !== undefined) return young;
    const newerThan = held.known(merchant);
    if (renewer.isRenewing(merchant)) {
      const joined = await this.#attempt(merchant, newerThan);
      if (joined.kind === 'renewed' || joined.kind === 'already_newer') return joined;
    }
    this.#calling.add(merchant);
    return this.#attempt(merchant, newerThan).finally(() => this.#calling.delete(merchant));
  }

  /** An attempt under way when a call becomes free is the one that was waited for, unless no call came of it. */
  async #makeKept(merchant: string, isStillKept: () => boolean): Promise<number | undefined> {
    await this.#lookUp(merchant);
    const newerThan = this.#context.held.known(merchant);
    const joins = this.#context.renewer.isRenewing(merchant);
    let result = isStillKept() ? await this.#attempt(merchant, newerThan) : undefined;
    if (joins && result?.kind === 'budget_exhausted') result = await this.#attempt(merchant, newerThan);
    return result?.kind === 'budget_exhausted' ? result.retryInMs : undefined;
  }

  #attempt(merchant: string, newerThan: number): Promise<RenewalResult> {
    const { renewer, sync } = this.#context;
    const request = { merchant, trigger: 'operator', newerThan, coolDownMs: 0, ignoresBackOff: true } as const;
    return renewAndFollow({ renewer, sync }, request);
  }

  /** Nothing has failed since: the session just created is as good as a new one. */
  #justRenewed(merchant: string): JustRenewed | undefined {
    const { held, failures, reader } = this.#context;
    const session = held.get(merchant);
    const retryInMs = JUST_RENEWED_MS - held.ageMs(merchant);
    if (session === undefined || retryInMs <= 0 || failures.get(merchant) !== undefined) return undefined;
    return reader.verdict(merchant).result === 'fresh' ? { kind: 'just_renewed', session, retryInMs } : undefined;
  }

  /**
   * A session that another replica has created in the meantime makes another call pointless. Without the store, what is
   * known counts.
   */
  async #lookUp(merchant: string): Promise<void> {
    try {
      await this.#context.sync.refresh(merchant);
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
    }
  }

  #answer(wish: AnsweredWish, result: WantedResult | undefined): WantedRenewalAnswer {
    const { merchant, generation } = wish;
    const { reader, merchants } = this.#context;
    if (result?.kind === 'just_renewed') return result;
    const session = reader.peek(merchant)?.session;
    if (session !== undefined && session.generation > generation) return { kind: 'renewed', session };
    // A merchant that was removed in the meantime has already been forgotten, and nothing may be kept for it.
    if (result?.kind === 'budget_exhausted' && merchants.settingsOf(merchant) !== undefined) {
      this.#kept.keep({ merchant, newerThan: generation, freeInMs: result.retryInMs });
    }
    return this.#refuse(wish, result);
  }

  #refuse({ merchant, generation, isJoined }: AnsweredWish, result: RenewalResult | undefined): never {
    const retryInMs = result !== undefined && 'retryInMs' in result ? result.retryInMs : undefined;
    const wish = { merchant, refusedBy: result?.kind, isJoined, store: this.#context.storeTrouble() };
    throw new SessionUnavailable(this.#context, {
      merchant,
      reason: storeRefusal(wish),
      cause: this.#context.whyRefused(wish),
      detail: `merchant ${merchant}: none newer than generation ${generation} (${result?.kind ?? 'no answer in time'})`,
      retryAfterMs:
        this.keptForMs(merchant) ?? this.#context.renewer.retryInMs(merchant) ?? retryInMs ?? RETRY_AFTER_UNKNOWN_MS,
    });
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
