import { randomUUID } from 'node:crypto';
import type { Session, SessionLeft } from '#libs/session';
import { HEARTBEAT, sessionFrame } from './event-frames.js';

/** What a watcher's events are written to: the response, as far as it matters here. */
export interface EventSink {
  /** Bytes written but not yet taken by the system. */
  readonly writableLength: number;
  write(chunk: Uint8Array): unknown;
  end(): unknown;
  destroy(): unknown;
}

interface WatcherTerms {
  /** What the consumer already holds; it is never sent this generation or an older one. */
  readonly generation: number;
  readonly leftOf: (session: Session) => SessionLeft;
  /** Whether its caller would still be let in. */
  readonly mayStay: () => boolean;
  /** Monotonic time at which the stream ends, so that its caller is checked again. */
  readonly endsAtMs: number;
  /** Whether it pauses its calls while a session is being replaced. */
  readonly takesPart?: boolean;
  /** Called with each session sent. */
  readonly onSent?: (session: Session) => void;
}

/** A session takes less than 2 KiB: a consumer with this much unread has stopped reading. */
const MAX_UNSENT_BYTES = 65_536;
/** Hand-overs in a row that a consumer has not answered, and then is not waited for: it would cost each of them a second. */
const MAX_UNANSWERED = 2;

/**
 * One consumer that follows a merchant's sessions. It is either sent whatever is newer than what it has, or cut off.
 */
export class Watcher {
  readonly endsAtMs: number;
  readonly takesPart: boolean;
  /** Its name in hand-overs. */
  readonly participant = randomUUID();
  #unanswered = 0;
  readonly #sink: EventSink;
  readonly #mayStay: () => boolean;
  #generation: number;
  readonly #leftOf: (session: Session) => SessionLeft;
  readonly #onSent: ((session: Session) => void) | undefined;
  #wasBehind = false;

  constructor(sink: EventSink, { leftOf, generation, mayStay, endsAtMs, onSent, takesPart = false }: WatcherTerms) {
    this.takesPart = takesPart;
    this.#onSent = onSent;
    this.#sink = sink;
    this.#generation = generation;
    this.#leftOf = leftOf;
    this.#mayStay = mayStay;
    this.endsAtMs = endsAtMs;
  }

  send(session: Session): void {
    if (session.generation <= this.#generation || this.endIfLost()) return;
    this.#generation = session.generation;
    if (this.#sink.writableLength > MAX_UNSENT_BYTES) this.#sink.destroy();
    else {
      this.#sink.write(sessionFrame(session, this.#leftOf(session)));
      this.#onSent?.(session);
    }
  }

  get isSilent(): boolean {
    return this.#unanswered >= MAX_UNANSWERED;
  }

  asked(): void {
    this.#unanswered += 1;
  }

  answered(): void {
    this.#unanswered = 0;
  }

  /** A consumer that is not reading gets no notice: it would not have seen it anyway. */
  notify(frame: Uint8Array): void {
    if (this.#sink.writableLength <= MAX_UNSENT_BYTES) this.#sink.write(frame);
  }

  /** Nothing is buffered indefinitely: a consumer that has read nothing from one heartbeat to the next is cut off. */
  beat(): void {
    const isBehind = this.#sink.writableLength > 0;
    if (isBehind && this.#wasBehind) this.#sink.destroy();
    else if (!this.endIfLost()) this.#sink.write(HEARTBEAT);
    this.#wasBehind = isBehind;
  }

  /** A caller that may no longer be let in is sent nothing more. @returns whether this ended the stream */
  endIfLost(): boolean {
    const isLost = !this.#mayStay();
    if (isLost) this.end();
    return isLost;
  }

  /** Ends the stream cleanly: the consumer reconnects, here or elsewhere. */
  end(): void {
    this.#sink.end();
  }
}
