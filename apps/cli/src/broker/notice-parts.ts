import type { Clock } from '#libs/clock';
import type { BrokerPlace } from './broker-place.js';

/** What it takes to tell of merchants that are followed. */
export interface NoticeParts {
  readonly broker: BrokerPlace;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly tell: (line: string) => void;
}
