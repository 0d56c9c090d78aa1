import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { type Clock, toRfc3339 } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { type AnnouncedHandover, type HandoverAudience, type ReadyParticipant, SessionReplica } from '#libs/session';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { CLOCK } from '../platform/platform.js';
import {
  type EventSink,
  type FrameOf,
  handoverFrame,
  HEARTBEAT_MS,
  WatchedMerchant,
  Watcher,
  type WatcherTerms,
} from './watcher.js';

/** Of the watchers that come at one moment, a fifteenth is written to each second: heartbeats never delay a read. */
const SLOTS = 15;

/**
 * The maximum life of a stream. Ending it frees what belongs to consumers that vanished silently, spreads the others
 * over the replicas, and has their credentials checked again.
 */
const MAX_STREAM_MS = 1_800_000;

/**
 * Streams that began together must not all reconnect together: each ends at some point in the last fifth of its time.
 */
const SPREAD = 0.2;

const RETRY_AFTER_MS = 5_000;

/**
 * At most this many watchers of one replica are asked to answer in a hand-over. If there are more, the renewal waits its
 * full time limit.
 */
const MAX_ASKED = 256;

export interface Watch extends Pick<WatcherTerms, 'generation' | 'takesPart' | 'onSent'> {
  readonly merchant: string;
  /** Whether the consumer would still be let in; absent: always. */
  readonly mayStay?: () => boolean;
  /** How long its credential remains valid, if known. */
  readonly validForMs?: number | undefined;
}

/** All consumers on this replica that follow a session through events, and are told when a renewal is about to begin. */
@Injectable()
export class SessionWatchers implements HandoverAudience, OnModuleDestroy {
  readonly #merchants = new Map<string, WatchedMerchant>();
  readonly #endSubscriptions: readonly (() => void)[];
  #count = 0;
  #entered = 0;
  #closed = false;

  constructor(
    @Inject(SessionReplica) private readonly replica: SessionReplica,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(ConfigurationInForce) private readonly configuration: Pick<ConfigurationInForce, 'current'>,
  ) {
    this.#endSubscriptions = [
      replica.held.onAnyNewer((session) => this.#merchants.get(session.merchant)?.tell(session)),
      replica.handovers.attach(this),
    ];
  }

  get count(): number {
    return this.#count;
  }

  /** @throws BrokerError `overloaded` when the replica has as many watchers as it takes, `shutting_down` */
  assertRoom(): void {
    if (this.#closed) throw new BrokerError('shutting_down');
    const { maxWatchers } = this.configuration.current.http;
    if (this.#count < maxWatchers) return;
    throw new BrokerError('overloaded', { detail: `${maxWatchers} watchers`, retryAfterMs: RETRY_AFTER_MS });
  }

  /**
   * Sends the current session now if it is newer than what the consumer holds, and each new one from here on.
   * @returns a function that forgets the watcher; to be called when its stream has closed, for whatever reason
   */
  add(sink: EventSink, { merchant, validForMs = MAX_STREAM_MS, ...watch }: Watch): () => void {
    const slot = this.#entered++ % SLOTS;
    const watcher = new Watcher(sink, {
      mayStay: () => true,
      ...watch,
      leftOf: (session) => this.replica.held.leftOf(session),
      clock: this.clock,
      firstBeatMs: (HEARTBEAT_MS * (slot + 1)) / SLOTS,
      // By sequence number, not at random: the ends of consecutive streams are spread evenly.
      endsAtMs: this.clock.monotonicMs() + Math.min(MAX_STREAM_MS * (1 - (SPREAD * slot) / SLOTS), validForMs),
    });
    const watched = this.#merchants.get(merchant) ?? new WatchedMerchant(this.clock);
    this.#merchants.set(merchant, watched);
    watched.watchers.add(watcher);
    this.#count += 1;
    const session = this.replica.wishes.peek(merchant)?.session;
    if (session !== undefined) watcher.send(session);
    return () => {
      watcher.stop();
      if (!watched.watchers.delete(watcher)) return;
      this.#count -= 1;
      if (watched.watchers.size > 0) return;
      watched.stop();
      this.#merchants.delete(merchant);
    };
  }

  hold(handover: AnnouncedHandover): number {
    const notice = { ...handover, at: toRfc3339(this.clock.now()) };
    const toAll = handoverFrame(notice);
    const frameOf: FrameOf = (watcher, place) => {
      if (place >= MAX_ASKED || watcher.isSilent) return toAll;
      watcher.unanswered += 1;
      return handoverFrame({ ...notice, participant: watcher.participant });
    };
    return this.#merchants.get(handover.merchant)?.notify(frameOf) ?? 0;
  }

  ready({ merchant, participant }: Pick<ReadyParticipant, 'merchant' | 'participant'>): void {
    for (const watcher of this.#merchants.get(merchant)?.watchers ?? []) {
      if (watcher.participant === participant) watcher.unanswered = 0;
    }
  }

  resume({ merchant, generation }: Pick<AnnouncedHandover, 'merchant' | 'generation'>): void {
    const frame = handoverFrame({ merchant, generation, holdForMs: 0, at: toRfc3339(this.clock.now()) });
    this.#merchants.get(merchant)?.notify(() => frame);
  }

  /** Ends the streams of consumers that would no longer be let in. */
  endLost(): void {
    for (const { watchers } of this.#merchants.values()) for (const watcher of watchers) watcher.endIfLost();
  }

  /** Ends every stream and accepts no new ones: consumers reconnect to another replica. */
  endAll(): void {
    this.#closed = true;
    for (const { watchers } of this.#merchants.values()) for (const watcher of watchers) watcher.end();
  }

  onModuleDestroy(): void {
    this.endAll();
    for (const end of this.#endSubscriptions) end();
    for (const watched of this.#merchants.values()) watched.stop();
  }
}
