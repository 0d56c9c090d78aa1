import type { SessionEvent, SessionEvents } from '#libs/session';

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

  /** Who has reported this session; a bounded number of consumers. */
  consumersOf(merchant: string, generation: number | undefined): readonly string[] {
    return [...(this.#reportOf(merchant, generation)?.consumers ?? [])];
  }

  /** The gateway codes with which they reported it; a bounded number of them. */
  reasonsOf(merchant: string, generation: number | undefined): readonly string[] {
    return [...(this.#reportOf(merchant, generation)?.reasons ?? [])];
  }

  #reportOf(merchant: string, generation: number | undefined): ReportedSession | undefined {
    const reported = this.#reported.get(merchant);
    return reported?.generation === generation ? reported : undefined;
  }

  #rejected({ merchant, generation, result, consumer, reason }: Named<'session_rejected'>): void {
    // A late report about a replaced session says nothing about those that followed.
    if (result === 'already_newer') return;
    const known = this.#reportOf(merchant, generation);
    const reported = known ?? { generation, consumers: new Set<string>(), reasons: new Set<string>() };
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
