import type { Session } from '#libs/session';
import { HEARTBEAT, sessionFrame } from './event-frames.js';

/** What a watcher is written to: the response, as far as it matters here. */
export interface EventSink {
  /** Bytes that were written and that the system has not taken yet. */
  readonly writableLength: number;
  write(chunk: Uint8Array): unknown;
  end(): unknown;
  destroy(): unknown;
}

interface WatcherTerms {
  /** What the consumer holds already; it is never sent this generation or an older one. */
  readonly generation: number;
  /** Who follows. */
  readonly caller: string;
  /** Monotonic time at which the stream ends, so that its caller is checked again. */
  readonly endsAtMs: number;
  /** Told of each session that is sent. */
  readonly onSent?: (session: Session) => void;
}

/** A session takes less than 2 KiB: a consumer that has left this much behind does not read. */
const MAX_UNSENT_BYTES = 65_536;

/** One consumer that follows a merchant's sessions. It is sent what is newer than what it has, or it is cut off. */
export class Watcher {
  readonly caller: string;
  readonly endsAtMs: number;
  readonly #sink: EventSink;
  #generation: number;
  readonly #onSent: ((session: Session) => void) | undefined;
  #wasBehind = false;

  constructor(sink: EventSink, { generation, caller, endsAtMs, onSent }: WatcherTerms) {
    this.#onSent = onSent;
    this.#sink = sink;
    this.#generation = generation;
    this.caller = caller;
    this.endsAtMs = endsAtMs;
  }

  send(session: Session): void {
    if (session.generation <= this.#generation) return;
    this.#generation = session.generation;
    if (this.#sink.writableLength > MAX_UNSENT_BYTES) this.#sink.destroy();
    else {
      this.#sink.write(sessionFrame(session));
      this.#onSent?.(session);
    }
  }

  /** Nothing is buffered without end: a consumer that has read nothing from one heartbeat to the next is cut off. */
  beat(): void {
    const isBehind = this.#sink.writableLength > 0;
    if (isBehind && this.#wasBehind) this.#sink.destroy();
    else this.#sink.write(HEARTBEAT);
    this.#wasBehind = isBehind;
  }

  /** Ends the stream in good order: the consumer comes back, here or elsewhere. */
  end(): void {
    this.#sink.end();
  }
}
