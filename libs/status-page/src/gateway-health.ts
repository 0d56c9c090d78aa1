import type { Clock } from '#libs/clock';
import { isUntrusted, type RenewalOutcome, type SessionEvent, type SessionEvents } from '#libs/session';
import type { StatusFailure, StatusGateway, StatusGatewayHealth } from './status-document.js';

type Named<Name extends SessionEvent['event']> = Extract<SessionEvent, { event: Name }>;

/** A gateway is judged by this many create calls, */
const MAX_ATTEMPTS = 20;
/** none of them older than this, */
const ATTEMPT_COUNTS_FOR_MS = 900_000;
/** is down when this many in a row have failed, and well again when as many in a row were answered. */
const IN_A_ROW = 3;

export const MAX_GATEWAYS = 12;

const severity: readonly StatusGatewayHealth[] = ['down', 'untrusted', 'refusing', 'degraded', 'unknown', 'answering'];

type CallEnd = 'success' | 'refused' | 'untrusted' | 'failed';

interface Attempt {
  readonly at: number;
  readonly merchant: string;
  readonly end: CallEnd;
  readonly durationMs: number;
}

interface Watched {
  readonly attempts: Attempt[];
  lastAnswerAt?: number;
  lastFailure?: StatusFailure;
  skewMs?: number;
}

/**
 * What each outcome says of the gateway. One that refuses a merchant or has revoked its access has answered; a result that
 * came after its lease had ended says nothing of the kind, and neither does a key of ours that cannot be used.
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

/** How each gateway has answered this replica's create calls lately. */
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
    if (event.event === 'clock_skew') this.#of(event.merchant, (gateway) => (gateway.skewMs = event.skewMs));
  }

  /** The worst first. @param merchants how many each host has; only these hosts are told of */
  describe(merchants: ReadonlyMap<string, number>): StatusGateway[] {
    return [...merchants]
      .map(([host, count]) => this.#describe(host, count))
      .sort((left, right) => severity.indexOf(left.health) - severity.indexOf(right.health));
  }

  #finished({ merchant, outcome, durationMs, failure }: Named<'renewal_finished'>): void {
    const end = failure !== undefined && isUntrusted(failure) ? 'untrusted' : endOf[outcome];
    if (end === undefined) return;
    const at = this.#clock.now();
    this.#of(merchant, (gateway) => {
      gateway.attempts.push({ at, merchant, end, durationMs });
      if (gateway.attempts.length > MAX_ATTEMPTS) gateway.attempts.shift();
      if (isAnswer(end)) gateway.lastAnswerAt = at;
      if (outcome !== 'success')
        gateway.lastFailure = failureOf({ at, kind: outcome }, failure?.shownCode ?? failure?.trace?.mark);
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
    const recent = attempts.filter(({ at }) => at >= since);
    const answersSince = answersSinceOf(recent);
    const medianMs = medianOf(recent.filter(({ end }) => isAnswer(end)).map(({ durationMs }) => durationMs));
    return {
      host,
      merchants,
      health: healthOf(recent),
      attempts: recent.length,
      failed: recent.filter(({ end }) => !isAnswer(end)).length,
      refused: recent.filter(({ end }) => end === 'refused').length,
      ...(medianMs === undefined ? {} : { medianMs }),
      ...(answersSince === undefined ? {} : { answersSince }),
      ...(lastAnswerAt === undefined ? {} : { lastAnswerAt }),
      ...(lastFailure === undefined ? {} : { lastFailure }),
      ...(skewMs === undefined ? {} : { skewMs }),
    };
  }
}

/** A failure with its code, where there is one. */
export function failureOf({ at, kind }: Pick<StatusFailure, 'at' | 'kind'>, code: string | undefined): StatusFailure {
  return { at, kind, ...(code === undefined ? {} : { code }) };
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

/** When it was first answered after the last failure; undefined where there was none, or nothing since. */
function answersSinceOf(recent: readonly Attempt[]): number | undefined {
  const lastFailed = recent.findLastIndex(({ end }) => !isAnswer(end));
  return lastFailed < 0 ? undefined : recent[lastFailed + 1]?.at;
}

/** The last word to each merchant counts: what was mended is no refusal any more. */
function lastWordsOf(recent: readonly Attempt[]): readonly CallEnd[] {
  return [...new Map(recent.map(({ merchant, end }) => [merchant, end])).values()];
}

const isAnswer = (end: CallEnd): boolean => end === 'success' || end === 'refused';

function medianOf(durations: readonly number[]): number | undefined {
  const median = durations.toSorted((left, right) => left - right)[Math.floor(durations.length / 2)];
  return median === undefined ? undefined : Math.round(median);
}
