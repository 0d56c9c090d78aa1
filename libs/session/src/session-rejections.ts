import { type RenewalResult } from './ports/session-store.js';
import { type Clock, Deadline } from '#libs/clock';
import { ChangeWait } from './change-wait.js';
import { areForeign } from './deaths.js';
import { followed, type ReplicaFace } from './face.js';
import { knownOf } from './merchant.js';
import type { Merchants } from './ports/replica-ports.js';
import type { SessionEvent, SessionEvents } from './ports/session-events.js';
import type { SessionReader } from './session-reader.js';
import { SessionUnavailable } from './session-unavailable.js';
import type { Session } from './session.js';
import { isStoreOutage } from './store-health.js';

type Rejected = Extract<SessionEvent, { event: 'session_rejected' }>;

/** For when nothing tells when a newer session can be expected. */
const RETRY_AFTER_UNKNOWN_MS = 1_000;

/** The attempt that a rejection joins may have been made for a lesser wish: then it makes one of its own. */
const MAX_ATTEMPTS = 2;

interface Rejection {
  readonly merchant: string;
  /** The generation that the gateway refused; its holder wants a newer one. */
  readonly generation: number;
  /** How long to wait for a newer session. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** The gateway's code as the consumer saw it: letters, digits and `_`. Only those for a dead session count as deaths. */
  readonly reason?: string;
  /** For the log: the consumer that reports it. */
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

interface SessionRejectionsContext extends ReplicaFace {
  readonly clock: Clock;
  readonly events: SessionEvents;
  readonly merchants: Merchants;
  readonly reader: SessionReader;
}

/**
 * Sessions that a consumer found dead before their time. A rejection names a generation: a late report is given
 * whatever is already newer, and all who report the same one share one renewal. It clears neither back-off nor budget.
 * One that nobody knows was issued by a store that has lost it since, or never: it is given the newest that there is.
 */
export class SessionRejections {
  readonly #context: SessionRejectionsContext;
  constructor(context: SessionRejectionsContext) {
    this.#context = context;
  }

  /**
   * @throws BrokerError `session_unavailable` if no newer session came in time, `store_unavailable` or `store_refused`
   * if only the store could tell whether the generation was ever issued
   */
  async reject(rejection: Rejection): Promise<RejectionAnswer> {
    await this.#isIssued(rejection.merchant, rejection.generation);
    const known = this.#newer(rejection);
    if (known !== undefined) return this.#answer(rejection, { kind: 'already_newer', session: known });
    const { merchant, generation, reason } = rejection;
    this.#context.driver.say(merchant, { on: 'rejected', generation, reason });
    // Whether somebody else creates decides how long the next one has to wait.
    await this.#context.held.find(merchant)?.judging;
    const result = await this.#renew(rejection);
    const session = this.#newer(rejection);
    // No matter who made it: it came while this report waited.
    if (session !== undefined) return this.#answer(rejection, { kind: 'renewed', session });
    this.#context.driver.say(merchant, { on: 'unreplaced', generation, result });
    if (result?.kind === 'cooled_down') return this.#answer(rejection, this.#cooledDown(rejection, result.retryInMs));
    return this.#refuse(rejection, result);
  }

  #newer(rejection: Rejection): Session | undefined {
    const session = this.#context.reader.peek(rejection.merchant)?.session;
    return session !== undefined && session.generation > this.#above(rejection) ? session : undefined;
  }

  /** What a session has to be newer than to be an answer. */
  #above({ merchant, generation }: Rejection): number {
    return this.#isUnknown(merchant, generation) ? 0 : generation;
  }

  /** A replica that knows of none at all cannot judge: any generation may come from an earlier process. */
  #isUnknown(merchant: string, generation: number): boolean {
    const newest = knownOf(this.#context.held.of(merchant));
    return newest > 0 && generation > newest;
  }

  /**
   * Whether this generation was ever issued; to find out that it was not costs one look at the store.
   * @throws BrokerError `store_unavailable` or `store_refused` if only the store could tell
   */
  async #isIssued(merchant: string, generation: number): Promise<boolean> {
    if (generation <= this.#context.held.generationOf(merchant)) return true;
    try {
      await this.#context.driver.lookUp(merchant);
    } catch (error) {
      if (!isStoreOutage(error) || this.#isUnknown(merchant, generation)) throw error;
    }
    return !this.#isUnknown(merchant, generation);
  }

  /**
   * The generation held by a consumer that claims to have this one: 0 if it was never issued. While nobody can tell, it
   * is believed.
   */
  async generationHeld(merchant: string, generation: number): Promise<number> {
    try {
      return (await this.#isIssued(merchant, generation)) ? generation : 0;
    } catch (error) {
      if (!isStoreOutage(error)) throw error;
      return generation;
    }
  }

  async #renew(rejection: Rejection): Promise<RenewalResult | undefined> {
    const { clock, held } = this.#context;
    const { merchant, waitMs, signal } = rejection;
    const deadline = new Deadline(clock, waitMs, signal);
    const awaited = { generation: this.#above(rejection), orFailure: true, signal: deadline.signal };
    const change = new ChangeWait(held.entryOf(merchant), awaited);
    try {
      const result = await Promise.race([this.#attempts(rejection, deadline.signal), change.ended]);
      // `held`: another replica is working on it, and announces the outcome.
      if (result?.kind === 'held') await change.ended;
      return result ?? undefined;
    } finally {
      change.end();
      deadline.close();
    }
  }

  #cooledDown({ merchant }: Rejection, retryInMs: number): RejectionAnswer {
    const { held, merchants } = this.#context;
    const isForeign = areForeign(held.of(merchant), { ms: held.moment.ms, settings: merchants.settingsOf(merchant) });
    return { kind: 'cooled_down', retryInMs, ...(isForeign ? { because: 'foreign_authorizer' } : {}) };
  }

  async #attempts(rejection: Rejection, signal: AbortSignal): Promise<RenewalResult | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      const { merchant, reason } = rejection;
      const wanted = { trigger: 'rejection', above: this.#above(rejection), reason } as const;
      const result = await followed(this.#context, merchant, wanted);
      const isSettled = this.#newer(rejection) !== undefined || isLastWord(result);
      if (isSettled || attempt === MAX_ATTEMPTS || signal.aborted) return result;
    }
  }

  #answer(rejection: Rejection, answer: RejectionAnswer): RejectionAnswer {
    this.#report(rejection, answer.kind);
    return answer;
  }

  #refuse(rejection: Rejection, result: RenewalResult | undefined): never {
    this.#report(rejection, result?.kind === 'budget_exhausted' ? result.kind : 'unavailable');
    const { merchant, generation } = rejection;
    const retryInMs = result !== undefined && 'retryInMs' in result ? result.retryInMs : undefined;
    throw new SessionUnavailable(this.#context, {
      merchant,
      detail: `merchant ${merchant}: none newer than generation ${generation} (${result?.kind ?? 'no answer in time'})`,
      retryAfterMs: this.#context.driver.retryAfterMs(merchant) ?? retryInMs ?? RETRY_AFTER_UNKNOWN_MS,
    });
  }

  #report({ merchant, generation, reason, consumer }: Rejection, result: Rejected['result']): void {
    const entry = this.#context.held.entryOf(merchant);
    const isFirst = generation > entry.rejectedUpTo;
    if (isFirst) entry.rejectedUpTo = generation;
    this.#context.events.emit({
      event: 'session_rejected',
      merchant,
      generation,
      result,
      isFirst,
      ...(reason === undefined ? {} : { reason }),
      ...(consumer === undefined ? {} : { consumer }),
    });
  }
}

/** Whether asking again at once could only get the same answer. */
function isLastWord(result: RenewalResult): boolean {
  return !['renewed', 'already_newer', 'lost', 'not_due'].includes(result.kind);
}
