import type { Clock } from '#libs/clock';
import { FailureBoard } from './failure-board.js';
import { HeldSessions } from './held-sessions.js';
import { ObservedStore } from './observed-store.js';
import type { Merchants } from './ports/merchants.js';
import type { SessionEvents } from './ports/session-events.js';
import type { SessionGateway } from './ports/session-gateway.js';
import type { SessionStore } from './ports/session-store.js';
import { type Tracing, untraced } from './ports/tracing.js';
import { RenewalLoop } from './renewal-loop.js';
import { Renewer } from './renewer.js';
import { SessionReader } from './session-reader.js';
import { SessionRejections } from './session-rejections.js';
import { SessionSync } from './session-sync.js';

export interface ReplicaPorts {
  /** Names this process in leases; no two processes share one, nor does one process after a restart. */
  readonly owner: string;
  readonly merchants: Merchants;
  readonly store: SessionStore;
  readonly gateway: SessionGateway;
  readonly events: SessionEvents;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** Left out: nobody looks. */
  readonly tracing?: Tracing;
}

/** How the configured merchants differ from those before, by id. */
export interface MerchantsChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** One replica of the broker, put together: what it holds, how it reads, and what keeps it fresh. */
export class SessionReplica {
  readonly held: HeldSessions;
  readonly failures = new FailureBoard();
  readonly reader: SessionReader;
  readonly rejections: SessionRejections;
  readonly #renewer: Renewer;
  readonly #sync: SessionSync;
  readonly #loop: RenewalLoop;

  constructor(ports: ReplicaPorts) {
    const store = new ObservedStore(ports.store, ports.events);
    this.held = new HeldSessions(ports.clock);
    const parts = { ...ports, tracing: ports.tracing ?? untraced, store, held: this.held, failures: this.failures };
    this.#renewer = new Renewer(parts);
    this.#sync = new SessionSync({ ...parts, renewer: this.#renewer });
    const running = { ...parts, renewer: this.#renewer, sync: this.#sync };
    this.#loop = new RenewalLoop(running);
    this.reader = new SessionReader(running);
    this.rejections = new SessionRejections({ ...running, reader: this.reader });
  }

  /** To be called at a steady pace; see RenewalLoop. */
  tick(): Promise<void> {
    return this.#loop.tick();
  }

  /** The store is back after an outage and may have lost what it knew: enrols and reads every merchant again. */
  resync(): Promise<void> {
    this.#sync.invalidate();
    return this.#loop.tick();
  }

  /**
   * To be called when `Merchants` answers otherwise than before. What is removed is forgotten, what is new is enrolled
   * and read; nobody else notices. An attempt under way for a removed merchant ends, and is not taken over. Never rejects.
   */
  async merchantsChanged({ added, removed }: MerchantsChange): Promise<void> {
    for (const merchant of removed) {
      this.#sync.forget(merchant);
      this.#renewer.forget(merchant);
      this.held.drop(merchant);
      this.failures.clear(merchant);
    }
    try {
      await this.#sync.add(added);
      await this.#loop.tick();
    } catch (error) {
      this.#sync.reportBroken('change of merchants', error);
    }
  }

  isRenewing(merchant: string): boolean {
    return this.#renewer.isRenewing(merchant);
  }

  retryInMs(merchant: string): number | undefined {
    return this.#renewer.retryInMs(merchant);
  }

  /** Claims nothing any more, ends what is in flight within the grace period, frees leases and timers. */
  async stop(graceMs: number): Promise<void> {
    await this.#loop.stop();
    await this.#renewer.stop(graceMs);
    this.#sync.close();
  }
}
