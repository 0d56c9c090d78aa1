import { wholeNumber } from '../setting.js';

/** Of each caller on one replica, for the routes that cost more than a read: rejections and payloads. */
export class RateLimitSettings {
  @wholeNumber(1, 1_000_000) readonly perSecond: number = 500;
  @wholeNumber(1, 1_000_000) readonly burst: number = 2_000;
}
