import type { Clock } from '#libs/clock';
import type { BrokerPlace } from './broker-place.js';
import type { TellNotice } from './notice.js';

/** What is needed to report on a followed merchant. */
export interface NoticeParts {
  readonly broker: BrokerPlace;
  /** The replica that is followed now. */
  readonly place: () => URL;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly tell: TellNotice;
}
