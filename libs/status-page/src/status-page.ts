import type { Clock } from '#libs/clock';
import type { SessionEvent, SessionEvents } from '#libs/session';
import {
  type PageFile,
  readLinkedPages,
  readPageFiles,
  readRunbooks,
  readRunbookStyles,
  type Runbook,
} from './page-files.js';
import type { StatusDocument } from './status-document.js';
import { StatusReporter, type StatusSearch } from './status-reporter.js';
import type { StatusSource } from './status-source.js';
import { StoreHealth } from './store-health.js';

interface ShownReplica {
  /** The name by which people know it. */
  readonly name: string;
  readonly clock: Clock;
}

/** The status page of this replica, put together: its files and its document. */
export class StatusPage implements SessionEvents {
  readonly files: readonly PageFile[] = readPageFiles();
  readonly runbooks: readonly Runbook[] = readRunbooks();
  /** Served next to the runbooks. */
  readonly runbookStyles: readonly PageFile[] = readRunbookStyles();
  /** Served one folder above the runbooks. */
  readonly linked: readonly Runbook[] = readLinkedPages();
  readonly #source: StatusSource;
  readonly #store: StoreHealth;
  /** How far the clock of each gateway host is ahead. */
  readonly #skews = new Map<string, number>();
  readonly #reporter: StatusReporter;

  constructor(source: StatusSource, { name, clock }: ShownReplica) {
    this.#source = source;
    this.#store = new StoreHealth(() => source.store(), clock);
    this.#reporter = new StatusReporter({ source, clock, name, store: this.#store, skews: this.#skews });
  }

  emit(event: SessionEvent): void {
    this.#store.emit(event);
    if (event.event !== 'clock_skew') return;
    const host = this.#source.merchant(event.merchant)?.gatewayHost;
    if (host !== undefined) this.#skews.set(host, event.skewMs);
  }

  report(search?: StatusSearch): StatusDocument {
    return this.#reporter.report(search);
  }
}
