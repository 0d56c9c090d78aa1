import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Clock } from '#libs/clock';
import { type AnnouncedHandover, type HandoverAudience, type ReadyParticipant, SessionReplica } from '#libs/session';
import { CLOCK } from '../platform/platform.js';
import { handoverFrame } from './watcher.js';
import { SessionWatchers } from './session-watchers.js';

/**
 * At most this many watchers of one replica are asked to answer. If there are more, the renewal waits its full time
 * limit.
 */
const MAX_ASKED = 256;

/** Tells the watchers of this replica that a renewal is about to begin. */
@Injectable()
export class HandoverNotices implements HandoverAudience, OnModuleDestroy {
  readonly #watchers: SessionWatchers;
  readonly #clock: Clock;
  readonly #detach: () => void;

  constructor(
    @Inject(SessionReplica) replica: SessionReplica,
    @Inject(SessionWatchers) watchers: SessionWatchers,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.#watchers = watchers;
    this.#clock = clock;
    this.#detach = replica.handovers.attach(this);
  }

  hold(handover: AnnouncedHandover): number {
    const notice = { ...handover, at: this.#now() };
    const toAll = handoverFrame(notice);
    return this.#watchers.notify(handover.merchant, (watcher, place) => {
      if (place >= MAX_ASKED || watcher.isSilent) return toAll;
      watcher.asked();
      return handoverFrame({ ...notice, participant: watcher.participant });
    });
  }

  ready({ merchant, participant }: Pick<ReadyParticipant, 'merchant' | 'participant'>): void {
    this.#watchers.answered(merchant, participant);
  }

  resume({ merchant, generation }: Pick<AnnouncedHandover, 'merchant' | 'generation'>): void {
    const frame = handoverFrame({ merchant, generation, holdForMs: 0, at: this.#now() });
    this.#watchers.notify(merchant, () => frame);
  }

  onModuleDestroy(): void {
    this.#detach();
  }

  #now(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}
