import { told, toldCall } from '#libs/causes';
import type { SessionEvent, SessionEvents } from '#libs/session';
import type { Logger } from '#libs/telemetry';

type Named<Name extends SessionEvent['event']> = Extract<SessionEvent, { event: Name }>;
type Writers = { readonly [Name in SessionEvent['event']]: (event: Named<Name>) => void };

/** Writes a log line for each thing that happens in the domain. Only this class writes these lines. */
export class EventLog implements SessionEvents {
  readonly #logger: Logger;
  readonly #writers: Writers;

  constructor(logger: Logger) {
    this.#logger = logger;
    this.#writers = {
      renewal_finished: (event) => this.#renewalFinished(event),
      late_result: this.#warn('a session came after the lease had ended and was not published'),
      fenced_publish: this.#warn('a newer lease exists; the session was not published'),
      record_unopenable: this.#warn('a stored session opens with no configured key and is treated as absent'),
      lead_time_short: this.#warn('no second attempt fits before expiry; lower gateway.timeout or raise renewBefore'),
      session_rejected: (event) => this.#rejected(event),
      clock_skew: (event) => event.beyondTolerance && this.#skewed(event),
      foreign_authorizer: (event) => this.#foreign(event),
      session_adopted: (event) => this.#logger.debug({ ...event, ageMs: Math.round(event.ageMs) }, 'session adopted'),
      handover_awaited: (event) => this.#handoverAwaited(event),
      lease_granted: this.#debug('lease granted'),
      claim_refused: this.#debug('claim refused'),
      // Whether the store answers is logged once per change, by the code that is connected to it.
      store_failed: this.#debug('store operation failed'),
      store_recovered: this.#debug('store operation succeeded again'),
      service_ended: (event) => this.#ended(event),
      service_resumed: (event) => this.#logger.info(event, 'there is a session to serve again'),
      broken: (event) => this.#logger.error(event, 'a bug: this must not happen'),
    };
  }

  emit(event: SessionEvent): void {
    // The table pairs each name with a writer of exactly that event, which the indexed access cannot express.
    (this.#writers[event.event] as (event: SessionEvent) => void)(event);
  }

  #warn(message: string): (event: object) => void {
    return (event) => this.#logger.warn(event, message);
  }

  #debug(message: string): (event: object) => void {
    return (event) => this.#logger.debug(event, message);
  }

  #renewalFinished(event: Named<'renewal_finished'>): void {
    const { failure, durationMs, ...rest } = event;
    const fields = { ...rest, durationMs: Math.round(durationMs) };
    if (event.outcome === 'success') return this.#logger.info(fields, 'session renewed');
    const facts = { ...fields, msgCode: failure?.msgCode, instead: failure?.instead, httpStatus: failure?.httpStatus };
    const line = { ...facts, gatewayRequestId: failure?.requestId, detail: failure?.detail, ...explained(failure) };
    if (needsPerson(event)) this.#logger.error(line, 'renewal failed; it will not pass by itself');
    else this.#logger.warn(line, 'renewal failed; it will be repeated');
  }

  #ended({ cause, ...event }: Named<'service_ended'>): void {
    const said = cause && told(cause, event.merchant);
    const line = { ...event, cause: said?.text, runbook: said?.runbook };
    this.#logger.error(line, 'there is no session to serve any more: it has expired');
  }

  #handoverAwaited({ waitedMs, ...event }: Named<'handover_awaited'>): void {
    const line = { ...event, waitedMs: Math.round(waitedMs) };
    if (event.outcome === 'limit') this.#logger.info(line, 'a consumer did not end its calls before the renewal');
    else this.#logger.debug(line, 'hand-over awaited');
  }

  /**
   * Its end is inferred from silence: while no consumer pays, someone who still creates sessions goes unnoticed too.
   */
  #foreign({ isPresent, quietMs, ...event }: Named<'foreign_authorizer'>): void {
    const line = { ...event, runbook: 'foreign-authorizer' };
    if (isPresent) return this.#logger.error(line, 'somebody else creates sessions of this merchant and ends ours');
    const quiet = `for ${roughlyText(quietMs)} no consumer has reported the session of this merchant dead to this replica`;
    this.#logger.warn(
      { ...line, quietMs: Math.round(quietMs) },
      `${quiet}; somebody else may still create sessions of it`,
    );
  }

  /** A dead session is reported by everyone who holds it: the first report is news, the rest are echoes. */
  #rejected({ isFirst, ...event }: Named<'session_rejected'>): void {
    if (isFirst) this.#logger.warn(event, 'a consumer reports that the gateway refuses the session');
    else this.#logger.debug(event, 'session rejected again');
  }

  #skewed(event: Named<'clock_skew'>): void {
    this.#logger.warn(event, 'the clocks of broker and gateway differ; expiry is judged by the gateway clock');
  }
}

/** Rounded down: the stated time must never exceed the real one. */
function roughlyText(durationMs: number): string {
  const inMin = Math.floor(durationMs / 60_000);
  return inMin === 0 ? `${Math.floor(durationMs / 1_000)} s` : `${inMin} min`;
}

/** The cause as the status page shows it, and the thumbprint to compare with the one the bank has. */
function explained(failure: Named<'renewal_finished'>['failure']): object {
  if (failure === undefined) return {};
  const { kind, shownCode: msgCode, trace } = failure;
  const { text, runbook } = toldCall({ kind, trace, ...(msgCode === undefined ? {} : { msgCode }) });
  return { cause: text, runbook, thumbprint: trace?.thumbprint };
}

/** An answer sealed to the wrong key stays so until the bank has the right one. */
function needsPerson({ outcome, failure }: Named<'renewal_finished'>): boolean {
  return outcome === 'refused' || outcome === 'revoked' || failure?.trace?.thumbprint !== undefined;
}
