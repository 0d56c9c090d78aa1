import type { Clock } from '#libs/clock';
import type { SessionEvent, SessionEvents } from '#libs/session';
import { EventLoopLag } from './event-loop-lag.js';
import { GatewayHealth } from './gateway-health.js';
import { MerchantSurvey } from './merchant-survey.js';
import {
  type PageFile,
  readLinkedPages,
  readPageFiles,
  readRunbooks,
  readRunbookStyles,
  type Runbook,
} from './page-files.js';
import { RenewalHistory } from './renewal-history.js';
import type { StatusDocument } from './status-document.js';
import { StatusReporter, type StatusSearch } from './status-reporter.js';
import type { StatusSource } from './status-source.js';
import { StatusViewers } from './status-viewers.js';
import { StoreHealth } from './store-health.js';

interface ShownReplica {
  /** The name by which people know it. */
  readonly name: string;
  readonly clock: Clock;
}

/** The status page of this replica, put together: its files, its document, and its viewers. */
export class StatusPage implements SessionEvents {
  readonly files: readonly PageFile[] = readPageFiles();
  readonly runbooks: readonly Runbook[] = readRunbooks();
  /** Served next to the runbooks. */
  readonly runbookStyles: readonly PageFile[] = readRunbookStyles();
  /** Served one folder above the runbooks. */
  readonly linked: readonly Runbook[] = readLinkedPages();
  readonly viewers: StatusViewers;
  readonly #history: RenewalHistory;
  readonly #gateways: GatewayHealth;
  readonly #store: StoreHealth;
  readonly #lag: EventLoopLag;
  readonly #reporter: StatusReporter;

  /** Watches the event loop from now on, until it is closed. */
  constructor(source: StatusSource, { name, clock }: ShownReplica) {
    const hostOf = (id: string): string | undefined => source.merchant(id)?.gatewayHost;
    this.#history = new RenewalHistory(clock);
    this.#gateways = new GatewayHealth(hostOf, clock);
    this.#store = new StoreHealth(() => source.store(), clock);
    this.#lag = new EventLoopLag(clock);
    const { replica } = source;
    const isRenewalBlocked = (id: string): boolean => source.isRenewalBlocked(id);
    this.#reporter = new StatusReporter({
      replica,
      clock,
      history: this.#history,
      gateways: this.#gateways,
      store: this.#store,
      lag: this.#lag,
      survey: new MerchantSurvey({ replica, ids: () => source.merchants(), hostOf, isRenewalBlocked, clock }),
      isRequired: (id) => source.merchant(id)?.required === true,
      isRenewalBlocked,
      environmentOf: (id) => source.merchant(id)?.environment ?? 'production',
      facts: {
        name,
        startedAt: clock.now(),
        condition: () => source.condition(),
        viewers: () => this.viewers.count,
        residentBytes: () => process.memoryUsage.rss(),
      },
    });
    const frame = (): Buffer => Buffer.from(`event: status\ndata: ${JSON.stringify(this.report())}\n\n`);
    this.viewers = new StatusViewers({ clock, frame });
    this.#lag.start();
  }

  emit(event: SessionEvent): void {
    this.#history.emit(event);
    this.#gateways.emit(event);
    this.#store.emit(event);
    this.noteNews();
  }

  /** Something has changed that is not a domain event. */
  noteNews(): void {
    this.viewers.noteNews();
  }

  report(search?: StatusSearch): StatusDocument {
    return this.#reporter.report(search);
  }

  /** Ends what is open, and accepts nothing new. */
  close(): void {
    this.viewers.close();
    this.#lag.close();
  }
}
