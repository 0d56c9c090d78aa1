import { wholeNumber } from '../setting.js';

/** Of each caller on one replica, for the routes that cost more than a read: rejections and payloads. */
export class RateLimitSettings {
  @wholeNumber('Rejections and payloads of each caller per second on one replica, in the long run …', 1, 1_000_000)
  readonly perSecond: number = 500;

  @wholeNumber('… and at once. More are answered 429 with `Retry-After`. Reads are not limited.', 1, 1_000_000)
  readonly burst: number = 2_000;
}
