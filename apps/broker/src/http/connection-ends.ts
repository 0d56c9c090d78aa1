import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '#libs/clock';
import { EndsOfPorts } from '#libs/edge';
import type { Logger } from '#libs/telemetry';
import { CLOCK, LOGGER } from '../platform/tokens.js';

/** Connections that were ended because a limit was reached: counted, and logged once a minute. */
@Injectable()
export class ConnectionEnds extends EndsOfPorts {
  constructor(@Inject(CLOCK) clock: Clock, @Inject(LOGGER) logger: Logger) {
    super(clock, (facts) => logger.warn(facts, 'connections ended at a bound'));
  }
}
