import { type Clock, Deadline, msBetween } from '#libs/clock';
import { BrokerError, type UnavailableReason } from '#libs/errors';
import { decideServing, type ReadFacts, type ServeVerdict, waitsForRenewal } from './decisions.js';
import type { Entry, HeldSessions } from './held-sessions.js';
import type { Input, Wanted } from './life.js';
import { type Cause, causeOf, type MerchantFacts, refusalOf, whyUnavailable } from './merchant-condition.js';
import { ageMsOf, generationOf, knownOf, type Now } from './merchant.js';
import { retryInMsOf } from './obstacles.js';
import type { SessionEvent, SessionEvents } from './ports/session-events.js';
import { meansStoreIsAhead, type RenewalResult } from './ports/session-store.js';
import type { Session } from './session.js';

/** For when nothing tells when a session can be expected. */
const RETRY_AFTER_UNKNOWN_MS = 1_000;
/** Two people paged for the same merchant want one session: for this long, the second is given the one just created. */
const JUST_RENEWED_MS = 10_000;

interface Waiting {
  readonly merchant: string;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

interface ReadWish extends Waiting {
  /** Renew first when less than this is left; 0 when any session will do. */
  readonly minRemainingMs: number;
  /** Whether to keep waiting although the attempt under way has failed. */
  readonly waitsThroughFailure: boolean;
}

export type ServedSession = {
  readonly session: Session;
  readonly verdict: Exclude<ServeVerdict, { result: 'unavailable' }>;
};

interface Rejection extends Waiting {
  /** The generation that the gateway refused; its holder wants a newer one. */
  readonly generation: number;
  /** The gateway's code as the consumer saw it: letters, digits and `_`. Only those for a dead session count as deaths. */
  readonly reason?: string;
  readonly consumer?: string;
}

/** Each has a session to use instead of the rejected one, except a cool-down, which has none yet. */
export type RejectionAnswer =
  | { readonly kind: 'renewed' | 'already_newer'; readonly session: Session }
  | {
      readonly kind: 'cooled_down';
      readonly retryInMs: number;
      /** Absent if a session was created just now. */
      readonly because?: 'foreign_authorizer';
    };

/** `just_renewed`: one was created within the last seconds, and no call was made; asking again later gets a newer one. */
export type WantedRenewalAnswer =
  | { readonly kind: 'renewed'; readonly session: Session }
  | { readonly kind: 'just_renewed'; readonly session: Session; readonly retryInMs: number };

/** There is no session for whoever asks: with the reason for programs, and what libs/causes has words for. */
export class SessionUnavailable extends BrokerError {
  readonly because: Cause | undefined;

  constructor(because: Cause | undefined, facts: { detail: string; reason: UnavailableReason; retryAfterMs: number }) {
    super('session_unavailable', facts);
    this.because = because;
  }
}

interface WishDriver {
  readonly held: HeldSessions;
  wish(merchant: string, wanted: Wanted): Promise<RenewalResult>;
  say(merchant: string, input: Extract<Input, { readonly on: 'rejected' | 'unreplaced' }>): void;
  lookUp(merchant: string, how?: { readonly anew: boolean }): Promise<BrokerError | undefined>;
  now(merchant: string): Now;
  facts(merchant: string): MerchantFacts;
  reportBroken(activity: string, error: unknown): void;
}

interface Awaited {
  /** A generation above this one is what is wanted. */
  readonly above: number;
  /** Not even for a newer session before the wish has its result. */
  readonly isPatient?: boolean;
  readonly throughFailure?: boolean;
  readonly ask?: (signal: AbortSignal) => Promise<RenewalResult>;
}

/**
 * What readers, consumers who report a dead session, and people who want a newer one get. Sessions come from memory; all
 * who find nothing at the same time share one attempt, and wait in one way for what becomes of it. A valid session is
 * never withheld because a renewal is slow.
 */
export class Wishes {
  readonly #clock: Clock;
  readonly #events: SessionEvents;
  readonly #driver: WishDriver;
  readonly #held: HeldSessions;

  constructor(clock: Clock, events: SessionEvents, driver: WishDriver) {
    this.#clock = clock;
    this.#events = events;
    this.#driver = driver;
    this.#held = driver.held;
  }

  // ---- Readers

  /** What memory holds, without waiting or renewing; undefined when there is nothing to serve. */
  peek(merchant: string): ServedSession | undefined {
    const verdict = this.verdict(merchant);
    const session = this.#held.get(merchant);
    return verdict.result === 'unavailable' || session === undefined ? undefined : { session, verdict };
  }

  verdict(merchant: string): ServeVerdict {
    return decideServing(this.#held.facts(merchant));
  }

  /**
   * The session to use now. A read starts a renewal if it finds nothing, or less than it wants.
   * @throws SessionUnavailable with the time after which to ask again
   */
  async read(wish: ReadWish): Promise<ServedSession> {
    const { merchant, waitsThroughFailure: throughFailure } = wish;
    await this.#confirmClock(merchant);
    const above = this.#held.generationOf(merchant);
    if (waitsForRenewal(this.#readFacts(wish))) {
      await this.#outcome(wish, { above, throughFailure, ask: () => this.#follow(merchant, { trigger: 'demand' }) });
    } else if (throughFailure && this.#isBeingReplaced(merchant)) await this.#outcome(wish, { above });
    return this.peek(merchant) ?? this.#refuse(merchant);
  }

  /** Starts a renewal if there is nothing to serve, for a caller who will hear the outcome. */
  demand(merchant: string): void {
    const demanded = async (): Promise<void> => {
      await this.#confirmClock(merchant);
      if (this.peek(merchant) === undefined) await this.#follow(merchant, { trigger: 'demand' });
    };
    demanded().catch((error: unknown) => this.#driver.reportBroken('demand', error));
  }

  /** The first session of a generation above `above`; undefined if none came in time or before an abort. */
  async newerThan(above: number, wish: Waiting): Promise<Session | undefined> {
    await this.#outcome(wish, { above });
    return this.#newer(wish.merchant, above);
  }

  #readFacts({ merchant, minRemainingMs }: ReadWish): ReadFacts {
    const session = this.#held.get(merchant);
    const ageMs = ageMsOf(this.#held.of(merchant), this.#held.moment);
    const lifetimeMs = session === undefined ? 0 : msBetween(session.createdAt, session.expiresAt);
    return { ...this.#held.facts(merchant), ageMs, lifetimeMs, minRemainingMs };
  }

  /** Whoever waits anyway is not given what is reported dead while this replica replaces it. */
  #isBeingReplaced(merchant: string): boolean {
    const { held, phase } = this.#held.of(merchant);
    return held?.isReported === true && phase.at !== 'idle';
  }

  /**
   * A wall clock that jumped makes valid sessions look expired: the store knows, and no session is created before it
   * has been asked.
   */
  async #confirmClock(merchant: string): Promise<void> {
    if (this.#held.storeClock.driftMs !== 0) await this.#driver.lookUp(merchant);
  }

  // ---- Consumers who report a dead session

  /**
   * A rejection names a generation: a late report is given whatever is already newer, and all who report the same one
   * share one renewal. It clears neither back-off nor budget. A generation that nobody knows was issued by a store that
   * has lost it since, or never: then the newest is the answer.
   * @throws BrokerError `session_unavailable` if no newer session came in time, `store_unavailable` or `store_refused`
   * if only the store could tell whether the generation was ever issued
   */
  async reject(rejection: Rejection): Promise<RejectionAnswer> {
    const { merchant, generation, reason } = rejection;
    const isIssued = await this.#isIssued(merchant, generation);
    if (isIssued instanceof BrokerError) throw isIssued;
    const above = isIssued ? generation : 0;
    const known = this.#newer(merchant, above);
    if (known !== undefined) return this.#rejected(rejection, { kind: 'already_newer', session: known });
    this.#driver.say(merchant, { on: 'rejected', generation, reason });
    // Whether somebody else creates decides how long the next one has to wait.
    await this.#held.find(merchant)?.judging;
    const wanted = { trigger: 'rejection', above, reason } as const;
    // The attempt that it joins may have been made for a lesser wish: then it makes one of its own.
    const ask = async (signal: AbortSignal): Promise<RenewalResult> => {
      const joined = await this.#follow(merchant, wanted);
      const isSettled = this.#newer(merchant, above) !== undefined || isLastWord(joined) || signal.aborted;
      return isSettled ? joined : this.#follow(merchant, wanted);
    };
    const result = await this.#outcome(rejection, { above, ask });
    const session = this.#newer(merchant, above);
    // No matter who made it: it came while this report waited.
    if (session !== undefined) return this.#rejected(rejection, { kind: 'renewed', session });
    this.#driver.say(merchant, { on: 'unreplaced', generation, result });
    if (result?.kind === 'cooled_down') {
      const { isForeign } = this.#driver.facts(merchant);
      const because = isForeign ? ({ because: 'foreign_authorizer' } as const) : {};
      return this.#rejected(rejection, { kind: 'cooled_down', retryInMs: result.retryInMs, ...because });
    }
    this.#note(rejection, result?.kind === 'budget_exhausted' ? result.kind : 'unavailable');
    this.#refuse(merchant, { result });
  }

  /**
   * The generation held by a consumer that claims to have this one: 0 if it was never issued. While nobody can tell, it
   * is believed.
   */
  async generationHeld(merchant: string, generation: number): Promise<number> {
    return (await this.#isIssued(merchant, generation)) === false ? 0 : generation;
  }

  /**
   * Whether this generation was ever issued; to find out that it was not costs one look at the store.
   * @returns the outage of the store if only the store could tell
   */
  async #isIssued(merchant: string, generation: number): Promise<boolean | BrokerError> {
    if (generation <= this.#held.generationOf(merchant)) return true;
    const outage = await this.#driver.lookUp(merchant);
    const newest = knownOf(this.#held.of(merchant));
    // A replica that knows of none at all cannot judge: any generation may come from an earlier process.
    return newest > 0 && generation > newest ? (outage ?? false) : true;
  }

  #rejected<Answer extends RejectionAnswer>(rejection: Rejection, answer: Answer): Answer {
    this.#note(rejection, answer.kind);
    return answer;
  }

  #note(
    { merchant, generation, reason, consumer }: Rejection,
    result: Extract<SessionEvent, { event: 'session_rejected' }>['result'],
  ): void {
    const entry = this.#held.entryOf(merchant);
    const isFirst = generation > entry.rejectedUpTo;
    if (isFirst) entry.rejectedUpTo = generation;
    const named = { ...(reason === undefined ? {} : { reason }), ...(consumer === undefined ? {} : { consumer }) };
    this.#events.emit({ event: 'session_rejected', merchant, generation, result, isFirst, ...named });
  }

  // ---- People

  /**
   * A person wants a newer session, because the reason for the failures is gone: the back-off does not hold it up.
   * Everything else does: the budget, the lease, the replica's ceiling. All who ask at once share one create call.
   * @throws SessionUnavailable when no newer session came in time; its reason says why
   */
  async renew(wish: Waiting): Promise<WantedRenewalAnswer> {
    const { merchant } = wish;
    const entry = this.#held.entryOf(merchant);
    const above = knownOf(entry.merchant);
    let young: WantedRenewalAnswer | undefined;
    const ask = async (): Promise<RenewalResult> => {
      // What another replica has created in the meantime makes a call pointless.
      await this.#driver.lookUp(merchant);
      young = this.#justRenewed(merchant);
      return young === undefined ? this.#renewNow(entry) : { kind: 'already_newer' };
    };
    const result = await this.#outcome(wish, { above, isPatient: true, ask });
    if (young !== undefined) return young;
    const session = this.#newer(merchant, above);
    if (session !== undefined) return { kind: 'renewed', session };
    this.#refuse(merchant, { result, isWanted: true });
  }

  /** An attempt that began before the wish may have failed on what has been fixed since: then another one follows. */
  async #renewNow(entry: Entry): Promise<RenewalResult> {
    const { id, phase } = entry.merchant;
    const wanted = { trigger: 'operator', above: knownOf(entry.merchant) } as const;
    const isOthers = phase.at !== 'idle' && !('wish' in phase && phase.wish.trigger === 'operator');
    const joined = isOthers ? await this.#follow(id, wanted) : undefined;
    if (joined?.kind === 'renewed' || joined?.kind === 'already_newer') return joined;
    return this.#follow(id, wanted);
  }

  /** Nothing has failed since: the session just created is as good as a new one. */
  #justRenewed(merchant: string): WantedRenewalAnswer | undefined {
    const served = this.peek(merchant);
    const known = this.#held.of(merchant);
    const retryInMs = JUST_RENEWED_MS - ageMsOf(known, this.#held.moment);
    if (served?.verdict.result !== 'fresh' || retryInMs <= 0 || known.failure !== undefined) return undefined;
    return { kind: 'just_renewed', session: served.session, retryInMs };
  }

  // ---- What all of them have in common

  /**
   * What became of a wish: its result, unless a newer session or the end of the time comes first. While another replica
   * works on it, what is waited for is the outcome of that.
   */
  async #outcome({ merchant, waitMs, signal }: Waiting, awaited: Awaited): Promise<RenewalResult | undefined> {
    const { above, isPatient, throughFailure, ask } = awaited;
    const entry = this.#held.entryOf(merchant);
    const { failure: before } = entry.merchant;
    const deadline = new Deadline(this.#clock, waitMs, signal);
    let result: RenewalResult | undefined;
    const isOver = (): boolean => {
      if (deadline.signal.aborted) return true;
      const mayEndEarly = isPatient !== true || result !== undefined;
      if (mayEndEarly && generationOf(entry.merchant) > above) return true;
      if (result === undefined || throughFailure === true) return false;
      const { failure } = entry.merchant;
      return result.kind !== 'held' || (failure !== undefined && failure.at !== before?.at);
    };
    let look: () => void = () => undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        look = () => isOver() && resolve();
        entry.waiting.add(look);
        deadline.signal.addEventListener('abort', look);
        look();
        ask?.(deadline.signal).then((answer) => {
          result = answer;
          look();
        }, reject);
      });
      return result;
    } finally {
      entry.waiting.delete(look);
      deadline.close();
    }
  }

  /**
   * Wishes for a newer session, and reads the store if it turns out to be ahead: then another replica has published in
   * the meantime, and its session is all that is wanted. An outage of the store is a result, not an error.
   */
  async #follow(merchant: string, wanted: Wanted): Promise<RenewalResult> {
    const result = await this.#driver.wish(merchant, wanted);
    if (!meansStoreIsAhead(result)) return result;
    const outage = await this.#driver.lookUp(merchant, { anew: true });
    return outage === undefined ? result : { kind: 'store_down', retryInMs: RETRY_AFTER_UNKNOWN_MS };
  }

  #newer(merchant: string, above: number): Session | undefined {
    const session = this.peek(merchant)?.session;
    return session !== undefined && session.generation > above ? session : undefined;
  }

  #refuse(
    merchant: string,
    { result, isWanted }: { readonly result?: RenewalResult | undefined; readonly isWanted?: boolean } = {},
  ): never {
    const facts = this.#driver.facts(merchant);
    const told = { cause: causeOf(facts), reason: whyUnavailable(facts) };
    const { cause, reason } = isWanted === true ? { ...told, ...refusalOf(result?.kind, facts) } : told;
    const againInMs = retryInMsOf(this.#held.of(merchant), this.#driver.now(merchant));
    const toldMs = result !== undefined && 'retryInMs' in result ? result.retryInMs : RETRY_AFTER_UNKNOWN_MS;
    const retryAfterMs = againInMs ?? toldMs;
    const detail = `merchant ${merchant}: ${this.verdict(merchant).reason}, ${result?.kind ?? 'no answer in time'}`;
    throw new SessionUnavailable(cause, { detail, reason, retryAfterMs });
  }
}

/** Whether asking again at once could only get the same answer. */
function isLastWord({ kind }: RenewalResult): boolean {
  return !['renewed', 'already_newer', 'lost', 'not_due'].includes(kind);
}
