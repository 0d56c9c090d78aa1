import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { SessionReplica } from '#libs/session';

/** The steady pace. Between two ticks the replica wakes itself when the next merchant falls due. */
const TICK_MS = 1_000;

@Injectable()
export class RenewalScheduler {
  constructor(private readonly replica: SessionReplica) {}

  @Interval('renewal-tick', TICK_MS)
  async tick(): Promise<void> {
    await this.replica.tick();
  }
}
