import type { Server } from 'node:http';
import type { Clock, ScheduledTask } from '#libs/clock';

/** For so long after requests in advance were last seen, no connection is trusted. */
const ALARM_MS = 30_000;
/** So many sights of them, on all connections, are a flood, and what it took of the memory is worth giving back. */
const MIN_FLOOD_SIGHTS = 1_000;

/** A connection that can be read with care, from any moment on. */
export interface TrustedConnection {
  readInTurns(): void;
}

interface AlarmParts {
  readonly clock: Clock;
  /** Called once a flood has been over for half a minute. */
  readonly onCalm: () => void;
}

/**
 * Whether somebody sends requests in advance. The parser reads a connection with less work where nobody stands between,
 * but takes in whatever comes. So it may do until somebody sends in advance; then no connection is trusted for a while, and
 * those that are open never again.
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

  /** Somebody sends in advance. All connections are looked at before what has come for them is parsed. */
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
