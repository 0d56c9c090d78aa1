import type { Server } from 'node:http';
import type { Clock, ScheduledTask } from '#libs/clock';

/** No connection is trusted for this long after requests sent in advance were last seen. */
const ALARM_MS = 30_000;
/** This many sightings on all connections are a flood, and the memory that it took is worth giving back. */
const MIN_FLOOD_SIGHTS = 1_000;

/** A connection that can be switched to careful reading at any moment. */
export interface TrustedConnection {
  readInTurns(): void;
}

interface AlarmParts {
  readonly clock: Clock;
  /** Called once a flood has been over for half a minute. */
  readonly onCalm: () => void;
}

/**
 * Whether anybody sends requests in advance. Without anything in between, the parser reads a connection with less work,
 * but takes in everything that arrives. It may do so until somebody sends in advance; then no connection is trusted for
 * a while, and those that are open during that time never again.
 */
export class FloodAlarm {
  readonly #clock: Clock;
  readonly #onCalm: () => void;
  readonly #trusted = new Set<TrustedConnection>();
  #sights = 0;
  #lastSightMs = 0;
  #calming: ScheduledTask | undefined;

  constructor({ clock, onCalm }: AlarmParts) {
    this.#clock = clock;
    this.#onCalm = onCalm;
  }

  /** Ends with the server. */
  belongTo(server: Server): this {
    server.once('close', () => this.#calming?.cancel());
    return this;
  }

  trust(connection: TrustedConnection): void {
    if (this.#calming === undefined) this.#trusted.add(connection);
    else connection.readInTurns();
  }

  forget(connection: TrustedConnection): void {
    this.#trusted.delete(connection);
  }

  /**
   * Somebody sends in advance. All connections switch to careful reading before anything that has arrived on them is
   * parsed.
   */
  raise(): void {
    this.#sights += 1;
    this.#lastSightMs = this.#clock.monotonicMs();
    if (this.#calming !== undefined) return;
    this.#calming = this.#clock.schedule(ALARM_MS, () => this.#calm());
    for (const connection of this.#trusted) connection.readInTurns();
    this.#trusted.clear();
  }

  #calm(): void {
    const leftMs = ALARM_MS - (this.#clock.monotonicMs() - this.#lastSightMs);
    if (leftMs > 0) {
      this.#calming = this.#clock.schedule(leftMs, () => this.#calm());
      return;
    }
    this.#calming = undefined;
    const wasFlood = this.#sights >= MIN_FLOOD_SIGHTS;
    this.#sights = 0;
    if (wasFlood) this.#onCalm();
  }
}
