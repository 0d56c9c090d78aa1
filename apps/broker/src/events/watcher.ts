import { randomUUID } from 'node:crypto';
import type { Clock, ScheduledTask } from '#libs/clock';
import type { Session, SessionLeft } from '#libs/session';
import { madeOnce, sessionJson } from '../sessions/session-documents.js';
import type { HandoverNotice } from './event-documents.js';

/**
 * Every watcher is sent something this often. Consumers treat a silence of two and a half times this as a dead stream.
 */
export const HEARTBEAT_MS = 15_000;
/** A comment: it shows both ends, and everything between them, that the stream is alive. */
const HEARTBEAT = Buffer.from(':\n\n');

/** The session as one event, whose id is its generation. */
const sessionFrame = madeOnce((session, left) =>
  Buffer.from(`event: session\nid: ${session.generation}\ndata: ${sessionJson(session, left)}\n\n`),
);

/** It has no id: the last id a consumer has seen is still its session's generation. */
export function handoverFrame(notice: HandoverNotice): Buffer {
  return Buffer.from(`event: handover\ndata: ${JSON.stringify(notice)}\n\n`);
}

/** What a watcher's events are written to: the response, as far as it matters here. */
export interface EventSink {
  /** Bytes written but not yet taken by the system. */
  readonly writableLength: number;
  write(chunk: Uint8Array): unknown;
  end(): unknown;
  destroy(): unknown;
}

export interface WatcherTerms {
  /** What the consumer already holds, 0 for nothing; it is never sent this generation or an older one. */
  readonly generation: number;
  readonly leftOf: (session: Session) => SessionLeft;
  readonly clock: Clock;
  /** When it gets its first heartbeat: not all watchers are written to at one moment. */
  readonly firstBeatMs: number;
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
/** A consumer that leaves this many unanswered is not waited for: it would cost each of them a second. */
const MAX_UNANSWERED = 2;

/**
 * One consumer that follows a merchant's sessions. It is either sent whatever is newer than what it has, or cut off.
 */
export class Watcher {
  readonly terms: WatcherTerms;
  /** Its name in hand-overs. */
  readonly participant = randomUUID();
  /** Hand-overs in a row that it was asked about and has not answered. */
  unanswered = 0;
  #generation: number;
  #heart: ScheduledTask;
  #wasBehind = false;

  constructor(
    private readonly sink: EventSink,
    terms: WatcherTerms,
  ) {
    this.terms = terms;
    this.#generation = terms.generation;
    this.#heart = terms.clock.schedule(terms.firstBeatMs, () => this.#beat());
  }

  send(session: Session): void {
    if (session.generation <= this.#generation || this.endIfLost()) return;
    this.#generation = session.generation;
    if (this.sink.writableLength > MAX_UNSENT_BYTES) this.#cutOff();
    else {
      this.sink.write(sessionFrame(session, this.terms.leftOf(session)));
      this.terms.onSent?.(session);
    }
  }

  get isSilent(): boolean {
    return this.unanswered >= MAX_UNANSWERED;
  }

  /** A consumer that is not reading gets no notice: it would not have seen it anyway. */
  notify(frame: Uint8Array): void {
    if (this.sink.writableLength <= MAX_UNSENT_BYTES) this.sink.write(frame);
  }

  /** A caller that may no longer be let in is sent nothing more. @returns whether this ended the stream */
  endIfLost(): boolean {
    const isLost = !this.terms.mayStay();
    if (isLost) this.end();
    return isLost;
  }

  /** Ends the stream cleanly: the consumer reconnects, here or elsewhere. */
  end(): void {
    this.stop();
    this.sink.end();
  }

  /** Its stream has closed, for whatever reason. */
  stop(): void {
    this.#heart.cancel();
  }

  /** Nothing is buffered indefinitely: a consumer that has read nothing from one heartbeat to the next is cut off. */
  #beat(): void {
    const { clock, endsAtMs } = this.terms;
    this.#heart = clock.schedule(HEARTBEAT_MS, () => this.#beat());
    const isBehind = this.sink.writableLength > 0;
    if (endsAtMs <= clock.monotonicMs()) this.end();
    else if (isBehind && this.#wasBehind) this.#cutOff();
    else if (!this.endIfLost()) this.sink.write(HEARTBEAT);
    this.#wasBehind = isBehind;
  }

  #cutOff(): void {
    this.stop();
    this.sink.destroy();
  }
}

/** How many watchers are written to in one go; between batches, the event loop can serve other requests. */
const BATCH = 250;

/** What a watcher is sent, by its place among those of its merchant. */
export type FrameOf = (watcher: Watcher, place: number) => Uint8Array;

/** The watchers of one merchant. */
export class WatchedMerchant {
  readonly watchers = new Set<Watcher>();
  #sessionRound: ScheduledTask | undefined;
  #noticeRound: ScheduledTask | undefined;

  constructor(private readonly clock: Clock) {}

  /** A newer session replaces one that is still being sent out, and every notice: no one needs both. */
  tell(session: Session): void {
    this.stop();
    this.#inBatches([...this.watchers], {
      write: (watcher) => watcher.send(session),
      goOn: (next) => (this.#sessionRound = next),
    });
  }

  /**
   * Sends each watcher that takes part in hand-overs its own notice.
   * @returns how many there are that answer
   */
  notify(frameOf: FrameOf): number {
    this.#noticeRound?.cancel();
    const participants = [...this.watchers].filter(({ terms }) => terms.takesPart === true);
    const answering = participants.filter(({ isSilent }) => !isSilent).length;
    this.#inBatches(participants, {
      write: (watcher, place) => watcher.notify(frameOf(watcher, place)),
      goOn: (next) => (this.#noticeRound = next),
    });
    return answering;
  }

  stop(): void {
    this.#sessionRound?.cancel();
    this.#noticeRound?.cancel();
  }

  #inBatches(all: readonly Watcher[], round: Round, from = 0): void {
    for (const [place, watcher] of all.slice(from, from + BATCH).entries()) {
      if (this.watchers.has(watcher)) round.write(watcher, from + place);
    }
    const next = from + BATCH;
    if (next < all.length) round.goOn(this.clock.schedule(0, () => this.#inBatches(all, round, next)));
  }
}

interface Round {
  readonly write: (watcher: Watcher, place: number) => void;
  /** Called with the task that writes to the next batch. */
  readonly goOn: (next: ScheduledTask) => void;
}
