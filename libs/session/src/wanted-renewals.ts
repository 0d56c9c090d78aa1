import { type JustRenewed, type RenewalResult, type WantedResult } from './ports/session-store.js';
import { type Clock, Deadline } from '#libs/clock';
import { ChangeWait } from './change-wait.js';
import { followed, type ReplicaFace } from './face.js';
import { storeRefusal } from './merchant-condition.js';
import { knownOf } from './merchant.js';
import type { Merchants } from './ports/replica-ports.js';
import type { SessionReader } from './session-reader.js';
import { SessionUnavailable } from './session-unavailable.js';
import type { Session } from './session.js';
import { isStoreOutage } from './store-health.js';

/** Two people paged for the same merchant want one session: for this long, the second is given the one just created. */
const JUST_RENEWED_MS = 10_000;

/** For when nothing tells when a newer session can be expected. */
const RETRY_AFTER_UNKNOWN_MS = 1_000;

interface WantedRenewal {
  readonly merchant: string;
  /** How long to wait for the newer session. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export type WantedRenewalAnswer = { readonly kind: 'renewed'; readonly session: Session } | JustRenewed;

interface AnsweredWish {
  readonly merchant: string;
  /** The one known when the wish came. */
  readonly generation: number;
  /** Whether an attempt that was already under way has failed, and no other was made for the wish. */
  readonly isJoined: boolean;
}

interface WantedRenewalsContext extends ReplicaFace {
  readonly clock: Clock;
  readonly merchants: Merchants;
  readonly reader: SessionReader;
}

/**
 * Renewals that a person asks for because the reason for the failures is gone: the back-off does not hold them up.
 * Everything else does: the budget, the lease, the replica's ceiling. All who ask at once share one create call. A wish
 * refused only by the budget is kept by this replica, and made when a call is free.
 */
export class WantedRenewals {
  readonly #context: WantedRenewalsContext;

  constructor(context: WantedRenewalsContext) {
    this.#context = context;
  }

  /** Until a wish refused by the budget is made after all; undefined if none is kept. */
  keptForMs(merchant: string): number | undefined {
    const { held, driver } = this.#context;
    if (driver.isStopping) return undefined;
    const leftMs = (held.of(merchant).keptWish?.freeAtMs ?? 0) - held.moment.ms;
    return leftMs > 0 && leftMs < Infinity ? leftMs : undefined;
  }

  /** @throws BrokerError `session_unavailable` when no newer session came in time; its reason says why */
  async renew({ merchant, waitMs, signal }: WantedRenewal): Promise<WantedRenewalAnswer> {
    const { clock, held } = this.#context;
    const entry = held.entryOf(merchant);
    const deadline = new Deadline(clock, waitMs, signal);
    const generation = knownOf(entry.merchant);
    const change = new ChangeWait(entry, { generation, orFailure: true, signal: deadline.signal });
    const isShared = entry.isMadeForOperator;
    try {
      const result = await Promise.race([this.#shared(merchant), aborted(deadline.signal)]);
      const known = entry.merchant.failure;
      // `held`: another replica is working on it, and announces the outcome.
      if (result?.kind === 'held') await change.ended;
      const isJoined = (isShared && result?.kind === 'failed') || entry.merchant.failure !== known;
      return this.#answer({ merchant, generation, isJoined }, result);
    } finally {
      change.end();
      deadline.close();
    }
  }

  #shared(merchant: string): Promise<WantedResult> {
    const entry = this.#context.held.entryOf(merchant);
    const underway = entry.operatorsWish ?? this.#renew(merchant).finally(() => (entry.operatorsWish = undefined));
    entry.operatorsWish = underway;
    return underway;
  }

  /** An attempt that began before the wish may have failed on what has been fixed since: then another one follows. */
  async #renew(merchant: string): Promise<WantedResult> {
    const { held } = this.#context;
    await this.#lookUp(merchant);
    const young = this.#justRenewed(merchant);
    if (young !== undefined) return young;
    const entry = held.entryOf(merchant);
    const wanted = { trigger: 'operator', above: knownOf(entry.merchant) } as const;
    if (entry.merchant.phase.at !== 'idle') {
      const joined = await followed(this.#context, merchant, wanted);
      if (joined.kind === 'renewed' || joined.kind === 'already_newer') return joined;
    }
    entry.isMadeForOperator = true;
    return followed(this.#context, merchant, wanted).finally(() => (entry.isMadeForOperator = false));
  }

  /** Nothing has failed since: the session just created is as good as a new one. */
  #justRenewed(merchant: string): JustRenewed | undefined {
    const { held, reader } = this.#context;
    const session = held.get(merchant);
    const retryInMs = JUST_RENEWED_MS - held.ageMs(merchant);
    if (session === undefined || retryInMs <= 0 || held.of(merchant).failure !== undefined) return undefined;
    return reader.verdict(merchant).result === 'fresh' ? { kind: 'just_renewed', session, retryInMs } : undefined;
  }

  /**
   * A session that another replica has created in the meantime makes another call pointless. Without the store, what is
   * known counts.
   */
  async #lookUp(merchant: string): Promise<void> {
    try {
      await this.#context.driver.lookUp(merchant);
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
      this.#context.driver.say(merchant, { on: 'kept', newerThan: generation, freeInMs: result.retryInMs });
    }
    return this.#refuse(wish, result);
  }

  #refuse({ merchant, generation, isJoined }: AnsweredWish, result: RenewalResult | undefined): never {
    const retryInMs = result !== undefined && 'retryInMs' in result ? result.retryInMs : undefined;
    const wish = { merchant, refusedBy: result?.kind, isJoined, store: this.#context.driver.storeTrouble };
    throw new SessionUnavailable(this.#context, {
      merchant,
      reason: storeRefusal(wish),
      cause: this.#context.driver.explainRefusal(wish),
      detail: `merchant ${merchant}: none newer than generation ${generation} (${result?.kind ?? 'no answer in time'})`,
      retryAfterMs:
        this.keptForMs(merchant) ?? this.#context.driver.retryAfterMs(merchant) ?? retryInMs ?? RETRY_AFTER_UNKNOWN_MS,
    });
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
