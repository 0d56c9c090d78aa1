import { orAborted, within } from './deadline.js';
import { tell } from './client-event.js';
import type { ClientParts } from './client-parts.js';
import type { JsonObject } from './json.js';
import type { Timer } from './time.js';

export interface HandoverNotice {
  readonly generation: number;
  /** How long to hold calls at most; 0 if no session comes after all. */
  readonly holdForMs: number;
  /** Our id in this hand-over; undefined if the broker wants no report. */
  readonly participant?: string | undefined;
}

/** No call is held for longer, whatever the broker asks for. */
const MAX_HOLD_MS = 10_000;

interface Hold {
  readonly notice: HandoverNotice;
  readonly timer: Timer;
  /** Let the calls go that are held. */
  readonly waiting: (() => void)[];
  isReported: boolean;
}

/**
 * Counts the calls that are running with a session, and holds new ones while the session is about to be replaced, so
 * that none is in progress when the gateway ends it.
 */
export class CallGate {
  readonly #parts: ClientParts;
  #running = 0;
  #hold: Hold | undefined;
  /** The newest generation announced so far; notices about it or an older one are ignored. */
  #latest = 0;

  constructor(parts: ClientParts) {
    this.#parts = parts;
    parts.shelf.onNewer(() => this.release());
  }

  /** Begins a call, unless calls are held. @returns whether it began; if so, it must leave exactly once */
  enter(): boolean {
    if (this.#hold !== undefined) return false;
    this.#running += 1;
    return true;
  }

  leave(): void {
    this.#running -= 1;
    this.#report();
  }

  async pass(signal: AbortSignal | undefined): Promise<void> {
    const hold = this.#hold;
    if (hold !== undefined) await orAborted(new Promise<void>((resolve) => hold.waiting.push(resolve)), signal);
  }

  /** The broker announces that a session is about to be replaced, or that it will not be after all. */
  notice(notice: HandoverNotice): void {
    const { generation, holdForMs } = notice;
    if (holdForMs === 0 && this.#hold !== undefined && this.#hold.notice.generation <= generation) this.release();
    if (holdForMs === 0 || generation <= this.#latest) return;
    this.#latest = generation;
    this.#begin(notice);
  }

  /** A new hold takes over the calls that the previous one holds. */
  #begin(notice: HandoverNotice): void {
    const { shelf, time, timeoutMs, onEvent } = this.#parts;
    const waiting = this.#hold?.waiting ?? [];
    this.#hold?.timer.cancel();
    const forMs = Math.min(notice.holdForMs, MAX_HOLD_MS, timeoutMs);
    const timer = time.schedule(forMs, () => this.release(), { background: true });
    this.#hold = { waiting, notice, timer, isReported: false };
    tell(onEvent, { type: 'holding', generation: notice.generation, running: this.#running });
    this.#report();
    if (shelf.newest >= notice.generation) this.release();
  }

  /** Tells the broker, once, that no call is running: if that fails, it waits as long as it would have anyway. */
  #report(): void {
    const hold = this.#hold;
    if (hold === undefined || hold.isReported || this.#running > 0) return;
    hold.isReported = true;
    const { generation, participant, holdForMs } = hold.notice;
    if (participant === undefined) return;
    const { http, time, closed } = this.#parts;
    const call = { path: '/session/handovers', body: { generation, participant } };
    within(time, { ms: holdForMs, parents: [closed], background: true }, ({ signal }) =>
      http.json({ ...call, signal }),
    ).catch(() => undefined);
  }

  /** Lets the calls go: with the newer session, with notice that none will come, at the limit, or with the client. */
  release(): void {
    const hold = this.#hold;
    if (hold === undefined) return;
    this.#hold = undefined;
    hold.timer.cancel();
    for (const letGo of hold.waiting) letGo();
    const { generation } = hold.notice;
    tell(this.#parts.onEvent, { type: 'resumed', generation, held: hold.waiting.length });
  }
}

/** @returns undefined for a notice that makes no sense: no call is held for it */
export function readHandover({ generation, holdForMs, participant }: JsonObject): HandoverNotice | undefined {
  if (!isWhole(generation) || generation === 0 || !isWhole(holdForMs)) return undefined;
  return typeof participant === 'string' ? { generation, holdForMs, participant } : { generation, holdForMs };
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
