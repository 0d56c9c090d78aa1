import type { Clock, ScheduledTask } from '#libs/clock';
import { BrokerError } from '#libs/errors';

/** Status pages that can be open at once on one replica: people, and the screens on their walls. */
export const MAX_VIEWERS = 20;

/** News is sent at most this often, however much of it there is, … */
export const PACE_MS = 1_000;
/** … and the state this often even without news, so that silence means that the connection is lost. */
export const HEARTBEAT_MS = 5_000;

/** A viewer that has left a document unread for this long is not reading. */
const MAX_LAG_MS = 15_000;

const RETRY_AFTER_MS = 5_000;

/** Where a viewer's frames are written: the response, as far as it matters here. */
export interface ViewerSink {
  /** Bytes that were written but that the system has not accepted yet. */
  readonly writableLength: number;
  write(chunk: Uint8Array): unknown;
  end(): unknown;
  destroy(): unknown;
}

interface Viewer {
  readonly sink: ViewerSink;
  behindSinceMs: number | undefined;
}

interface ViewerParts {
  readonly clock: Clock;
  /** The whole state as one event: each one supersedes those before it, so that leaving one out loses nothing. */
  readonly frame: () => Uint8Array;
}

/** The open status pages. One frame is made for all of them; without viewers, nothing is made and no timer runs. */
export class StatusViewers {
  readonly #parts: ViewerParts;
  readonly #viewers = new Set<Viewer>();
  #beat: ScheduledTask | undefined;
  #latest: { readonly frame: Uint8Array; readonly atMs: number } | undefined;
  #hasNews = false;
  #closed = false;

  constructor(parts: ViewerParts) {
    this.#parts = parts;
  }

  get count(): number {
    return this.#viewers.size;
  }

  /** @throws BrokerError `overloaded` if there are already as many as a replica accepts, `shutting_down` */
  assertRoom(): void {
    if (this.#closed) throw new BrokerError('shutting_down');
    if (this.#viewers.size < MAX_VIEWERS) return;
    throw new BrokerError('overloaded', { detail: `${MAX_VIEWERS} status pages`, retryAfterMs: RETRY_AFTER_MS });
  }

  /**
   * Sends the state now and whenever it has changed.
   * @returns a function that forgets the viewer; to be called when its stream has closed, for whatever reason
   */
  add(sink: ViewerSink): () => void {
    const viewer: Viewer = { sink, behindSinceMs: undefined };
    this.#viewers.add(viewer);
    sink.write(this.#frame(PACE_MS));
    this.#beat ??= this.#nextBeat();
    return () => {
      this.#viewers.delete(viewer);
      if (this.#viewers.size === 0) this.#stop();
    };
  }

  noteNews(): void {
    this.#hasNews = true;
  }

  /** Ends every stream and accepts no new one. */
  close(): void {
    this.#closed = true;
    this.#stop();
    for (const { sink } of this.#viewers) sink.end();
  }

  #stop(): void {
    this.#beat?.cancel();
    this.#beat = undefined;
    this.#latest = undefined;
  }

  #nextBeat(): ScheduledTask {
    return this.#parts.clock.schedule(PACE_MS, () => {
      this.#beat = this.#nextBeat();
      if (this.#hasNews || this.#ageMs() >= HEARTBEAT_MS) this.#sendAll();
    });
  }

  #sendAll(): void {
    this.#hasNews = false;
    const frame = this.#frame(0);
    for (const viewer of this.#viewers) this.#send(viewer, frame);
  }

  /** At most one document waits for a viewer: the next one contains everything that a left-out one said. */
  #send(viewer: Viewer, frame: Uint8Array): void {
    const nowMs = this.#parts.clock.monotonicMs();
    if (viewer.sink.writableLength === 0) {
      viewer.behindSinceMs = undefined;
      viewer.sink.write(frame);
      return;
    }
    viewer.behindSinceMs ??= nowMs;
    if (nowMs - viewer.behindSinceMs >= MAX_LAG_MS) viewer.sink.destroy();
  }

  #frame(goodForMs: number): Uint8Array {
    if (this.#latest === undefined || this.#ageMs() >= goodForMs) {
      this.#latest = { frame: this.#parts.frame(), atMs: this.#parts.clock.monotonicMs() };
    }
    return this.#latest.frame;
  }

  #ageMs(): number {
    return this.#latest === undefined ? Infinity : this.#parts.clock.monotonicMs() - this.#latest.atMs;
  }
}
