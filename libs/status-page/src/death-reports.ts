import type { SessionEvent, SessionEvents } from '#libs/session';
import type { StatusMerchant } from './status-document.js';

type Named<Name extends SessionEvent['event']> = Extract<SessionEvent, { event: Name }>;

/** As many names as anyone reads; the log has the rest. */
export const MAX_CONSUMERS = 5;
/** A consumer may pass on what the gateway told it, or anything else: it is shown only if it looks like a code. */
export const MAX_REASONS = 3;
const CODE = /^[\w.-]{1,64}$/;

interface ReportedSession {
  readonly generation: number;
  readonly consumers: Set<string>;
  readonly reasons: Set<string>;
}

/** What consumers of this replica reported about dead sessions. */
export class DeathReports implements SessionEvents {
  /** The newest reported session of each merchant that has one. */
  readonly #reported = new Map<string, ReportedSession>();

  emit(event: SessionEvent): void {
    if (event.event === 'session_rejected') this.#rejected(event);
    if (event.event === 'session_adopted') this.#adopted(event);
  }

  /** Who has reported this session, and the gateway codes with which they did; a bounded number of each. */
  of(merchant: string, generation: number | undefined): Pick<StatusMerchant, 'reportedBy' | 'reportedAs'> {
    const reported = this.#reported.get(merchant);
    if (reported?.generation !== generation) return {};
    return { reportedBy: [...(reported?.consumers ?? [])], reportedAs: [...(reported?.reasons ?? [])] };
  }

  #rejected({ merchant, generation, result, consumer, reason }: Named<'session_rejected'>): void {
    // A late report about a replaced session says nothing about those that followed.
    if (result === 'already_newer') return;
    const known = this.#reported.get(merchant);
    const isKnown = known?.generation === generation;
    const reported = isKnown ? known : { generation, consumers: new Set<string>(), reasons: new Set<string>() };
    const { consumers, reasons } = reported;
    if (consumer !== undefined && consumers.size < MAX_CONSUMERS) consumers.add(consumer);
    if (reason !== undefined && CODE.test(reason) && reasons.size < MAX_REASONS) reasons.add(reason);
    this.#reported.set(merchant, reported);
  }

  #adopted({ merchant, generation }: Named<'session_adopted'>): void {
    const reported = this.#reported.get(merchant);
    if (reported !== undefined && reported.generation < generation) this.#reported.delete(merchant);
  }
}
