import { isUntrusted } from '#libs/causes';
import { type Clock, plusMs } from '#libs/clock';
import { type RecordedFailure, type RenewalOutcome, type SessionEvent, type SessionEvents } from '#libs/session';
import type { StatusFailure, StatusGateway, StatusGatewayHealth } from './status-document.js';

type Named<Name extends SessionEvent['event']> = Extract<SessionEvent, { event: Name }>;

/** A gateway is judged by this many create calls, … */
const MAX_ATTEMPTS = 20;
/** … none of them older than this; … */
const ATTEMPT_COUNTS_FOR_MS = 900_000;
/** … it is down if this many in a row have failed, and well again once as many in a row were answered. */
const IN_A_ROW = 3;

export const MAX_GATEWAYS = 12;

const severity: readonly StatusGatewayHealth[] = ['down', 'untrusted', 'refusing', 'degraded', 'unknown', 'answering'];

type CallEnd = 'success' | 'refused' | 'untrusted' | 'failed';

/** `elsewhere`: another replica's call for the merchant was answered with a session. */
type Word = CallEnd | 'elsewhere';

interface Attempt {
  readonly at: number;
  readonly merchant: string;
  readonly end: Word;
  readonly callMs: number;
}

interface Watched {
  readonly attempts: Attempt[];
  lastAnswerAt?: number;
  lastFailure?: StatusFailure;
  skewMs?: number;
}

/**
 * What each outcome says about the gateway. A gateway that refuses a merchant or has revoked its access has answered; a
 * result that came after its lease had ended says nothing, and neither does a key of ours that cannot be used.
 */
const endOf: Readonly<Record<RenewalOutcome, CallEnd | undefined>> = {
  success: 'success',
  refused: 'refused',
  revoked: 'refused',
  transient: 'failed',
  timeout: 'failed',
  invalid_response: 'failed',
  key_unavailable: undefined,
  lease_lost: undefined,
};

/** As shared by the replicas. */
export interface FailureElsewhere {
  readonly merchant: string;
  readonly failure: RecordedFailure;
}

/**
 * How each gateway has recently answered create calls: those of this replica, and those of others that yielded a
 * session.
 */
export class GatewayHealth implements SessionEvents {
  readonly #hostOf: (merchant: string) => string | undefined;
  readonly #clock: Clock;
  readonly #gateways = new Map<string, Watched>();

  constructor(hostOf: (merchant: string) => string | undefined, clock: Clock) {
    this.#hostOf = hostOf;
    this.#clock = clock;
  }

  emit(event: SessionEvent): void {
    if (event.event === 'renewal_finished') this.#finished(event);
    if (event.event === 'session_adopted' && event.source === 'store') this.#renewedElsewhere(event);
    if (event.event === 'clock_skew') this.#of(event.merchant, (gateway) => (gateway.skewMs = event.skewMs));
  }

  /**
   * The worst come first.
   * @param merchants how many each host has; only these hosts are reported
   * @param elsewhere failures of calls that this replica has not made
   */
  describe(merchants: ReadonlyMap<string, number>, elsewhere: readonly FailureElsewhere[] = []): StatusGateway[] {
    const failures = elsewhere.toSorted((left, right) => left.failure.at - right.failure.at);
    return [...merchants]
      .map(([host, count]) => {
        const last = failures.findLast(({ merchant }) => this.#hostOf(merchant) === host);
        return { ...this.#describe(host, count), ...(last === undefined ? {} : { othersFailure: shownFailure(last) }) };
      })
      .sort((left, right) => severity.indexOf(left.health) - severity.indexOf(right.health));
  }

  #finished({ merchant, outcome, callMs, failure }: Named<'renewal_finished'>): void {
    const end = failure !== undefined && isUntrusted(failure) ? 'untrusted' : endOf[outcome];
    if (end === undefined) return;
    const at = this.#clock.now();
    this.#of(merchant, (gateway) => {
      remember(gateway.attempts, { at, merchant, end, callMs });
      if (isAnswer(end)) gateway.lastAnswerAt = at;
      if (outcome !== 'success')
        gateway.lastFailure = failureOf({ at, kind: outcome }, failure?.shownCode ?? failure?.trace?.mark);
    });
  }

  /**
   * News about the gateway only if this replica has called it for the merchant: at a start, what the store has may be
   * old.
   */
  #renewedElsewhere({ merchant, ageMs }: Named<'session_adopted'>): void {
    const at = plusMs(this.#clock.now(), -Math.round(ageMs));
    this.#of(merchant, ({ attempts }) => {
      if (attempts.some((attempt) => attempt.merchant === merchant)) {
        remember(attempts, { at, merchant, end: 'elsewhere', callMs: 0 });
      }
    });
  }

  #of(merchant: string, note: (gateway: Watched) => void): void {
    const host = this.#hostOf(merchant);
    if (host === undefined) return;
    const gateway = this.#gateways.get(host) ?? { attempts: [] };
    this.#gateways.set(host, gateway);
    note(gateway);
  }

  #describe(host: string, merchants: number): StatusGateway {
    const { attempts, lastAnswerAt, lastFailure, skewMs }: Watched = this.#gateways.get(host) ?? { attempts: [] };
    const since = this.#clock.now() - ATTEMPT_COUNTS_FOR_MS;
    const recent = attempts.filter(({ at, merchant }) => at >= since && this.#hostOf(merchant) === host);
    const own = recent.filter(({ end }) => end !== 'elsewhere');
    const answersSince = answersSinceOf(recent);
    const answeredOthersAt = recent.findLast(({ end }) => end === 'elsewhere')?.at;
    const medianMs = medianOf(own.filter(({ end }) => isAnswer(end)).map(({ callMs }) => callMs));
    return {
      host,
      merchants,
      health: healthOf(recent),
      attempts: own.length,
      failed: own.filter(({ end }) => !isAnswer(end)).length,
      refused: own.filter(({ end }) => end === 'refused').length,
      ...(medianMs === undefined ? {} : { medianMs }),
      ...(answersSince === undefined ? {} : { answersSince }),
      ...(answeredOthersAt === undefined ? {} : { answeredOthersAt }),
      ...(lastAnswerAt === undefined ? {} : { lastAnswerAt }),
      ...(lastFailure === undefined ? {} : { lastFailure }),
      ...(skewMs === undefined ? {} : { skewMs }),
    };
  }
}

/** A failure with its code, if there is one. */
export function failureOf({ at, kind }: Pick<StatusFailure, 'at' | 'kind'>, code: string | undefined): StatusFailure {
  return { at, kind, ...(code === undefined ? {} : { code }) };
}

/** Whether a failure says anything about the gateway: a key of ours that cannot be used does not. */
export function isOfGateway({ kind }: RecordedFailure): boolean {
  return kind !== 'key_unavailable' && kind !== 'aborted';
}

function shownFailure({ failure }: FailureElsewhere): StatusFailure {
  const { kind, msgCode, trace, at } = failure;
  const isRefused = kind === 'refused' || kind === 'revoked';
  const end = isUntrusted(failure) ? 'not trusted' : isRefused ? 'refused' : 'failed';
  return failureOf({ at, kind: end }, msgCode ?? trace?.mark);
}

function healthOf(recent: readonly Attempt[]): StatusGatewayHealth {
  if (recent.length === 0) return 'unknown';
  if (recent.slice(-IN_A_ROW).every(({ end }) => end === 'failed')) return 'down';
  const words = lastWordsOf(recent);
  if (words.includes('untrusted')) return 'untrusted';
  if (words.includes('refused')) return 'refusing';
  const isMended = !words.includes('failed') && recent.slice(-IN_A_ROW).every(({ end }) => isAnswer(end));
  return isMended || recent.every(({ end }) => end !== 'failed') ? 'answering' : 'degraded';
}

/**
 * When it first answered after the last failure; undefined if there was none, or while the last call for a merchant
 * failed.
 */
function answersSinceOf(recent: readonly Attempt[]): number | undefined {
  if (!lastWordsOf(recent).every(isAnswer)) return undefined;
  const lastFailed = recent.findLastIndex(({ end }) => !isAnswer(end));
  return lastFailed < 0 ? undefined : recent[lastFailed + 1]?.at;
}

/** Only the last result for each merchant counts: a refusal whose cause was fixed is no longer one. */
function lastWordsOf(recent: readonly Attempt[]): readonly Word[] {
  return [...new Map(recent.map(({ merchant, end }) => [merchant, end])).values()];
}

const isAnswer = (end: Word): boolean => end === 'success' || end === 'refused' || end === 'elsewhere';

/** In the order in which the gateway answered: this replica may learn late of a session of another one. */
function remember(attempts: Attempt[], attempt: Attempt): void {
  const later = attempts.findIndex(({ at }) => at > attempt.at);
  attempts.splice(later < 0 ? attempts.length : later, 0, attempt);
  if (attempts.length > MAX_ATTEMPTS) attempts.shift();
}

function medianOf(durations: readonly number[]): number | undefined {
  const median = durations.toSorted((left, right) => left - right)[Math.floor(durations.length / 2)];
  return median === undefined ? undefined : Math.round(median);
}
