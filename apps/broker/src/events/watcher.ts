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
  /** Whether its caller would still be let in. */
  readonly mayStay: () => boolean;
  /** Monotonic time at which the stream ends, so that its caller is checked again. */
  readonly endsAtMs: number;
  /** Whether it holds its calls while a session is replaced. */
  readonly takesPart?: boolean;
  /** Told of each session that is sent. */
  readonly onSent?: (session: Session) => void;
}

/** A session takes less than 2 KiB: a consumer that has left this much behind does not read. */
const MAX_UNSENT_BYTES = 65_536;

/** One consumer that follows a merchant's sessions. It is sent what is newer than what it has, or it is cut off. */
export class Watcher {
  readonly endsAtMs: number;
  readonly takesPart: boolean;
  readonly #sink: EventSink;
  readonly #mayStay: () => boolean;
  #generation: number;
  readonly #onSent: ((session: Session) => void) | undefined;
  #wasBehind = false;

  constructor(sink: EventSink, { generation, mayStay, endsAtMs, onSent, takesPart = false }: WatcherTerms) {
    this.takesPart = takesPart;
    this.#onSent = onSent;
    this.#sink = sink;
    this.#generation = generation;
    this.#mayStay = mayStay;
    this.endsAtMs = endsAtMs;
  }

  send(session: Session): void {
    if (session.generation <= this.#generation || this.endIfLost()) return;
    this.#generation = session.generation;
    if (this.#sink.writableLength > MAX_UNSENT_BYTES) this.#sink.destroy();
    else {
      this.#sink.write(sessionFrame(session));
      this.#onSent?.(session);
    }
  }

  /** Who does not read is not written to: nothing is lost to it that it would have known. */
  notify(frame: Uint8Array): void {
    if (this.#sink.writableLength <= MAX_UNSENT_BYTES) this.#sink.write(frame);
  }

  /** Nothing is buffered without end: a consumer that has read nothing from one heartbeat to the next is cut off. */
  beat(): void {
    const isBehind = this.#sink.writableLength > 0;
    if (isBehind && this.#wasBehind) this.#sink.destroy();
    else if (!this.endIfLost()) this.#sink.write(HEARTBEAT);
    this.#wasBehind = isBehind;
  }

  /** A caller that is let in no more is sent nothing more. @returns whether the stream has ended by that */
  endIfLost(): boolean {
    const isLost = !this.#mayStay();
    if (isLost) this.end();
    return isLost;
  }

  /** Ends the stream in good order: the consumer comes back, here or elsewhere. */
  end(): void {
    this.#sink.end();
  }
}
