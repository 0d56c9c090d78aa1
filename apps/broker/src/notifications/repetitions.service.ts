import { Inject, Injectable } from '@nestjs/common';
import { BrokerError } from '#libs/errors';
import { keyedDigest } from '#libs/jwe';
import type { Sightings } from '#libs/session';
import type { Logger } from '#libs/telemetry';
import { LOGGER } from '../platform/tokens.js';
import { ConfiguredMerchants } from '../renewal/configured-merchants.js';
import { SIGHTINGS } from '../renewal/replica-connections.js';

/** Longer than the gateway repeats a notification: six attempts in little more than an hour and a half. */
const REMEMBERED_MS = 86_400_000;

/** Recognises repeated notifications, whichever replica they arrive at. */
@Injectable()
export class Repetitions {
  #isTold = true;

  constructor(
    @Inject(SIGHTINGS) private readonly sightings: Sightings,
    private readonly merchants: ConfiguredMerchants,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Whether one about the same thing has been opened before. What it is about goes to the store as digests, one for
   * each key of the merchant, so that nothing is forgotten when keys change.
   * @returns undefined when the store cannot say: no notification is withheld because of that
   */
  async isRepeated(merchant: string, about: readonly string[]): Promise<boolean | undefined> {
    const keys = this.merchants.clientKeysOf(merchant);
    const names = await Promise.all(keys.map((key) => keyedDigest(key, `notification of ${merchant}`, about)));
    try {
      const isFirst = await this.sightings.firstSeen({ merchant, names: [...new Set(names)], forMs: REMEMBERED_MS });
      this.#tell(true);
      return !isFirst;
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error;
      this.#tell(false, error.code);
      return undefined;
    }
  }

  /** One line per change: the state of the store is reported elsewhere. */
  #tell(isTold: boolean, reason = ''): void {
    if (isTold !== this.#isTold) {
      if (isTold) this.logger.info({}, 'notifications that come again are marked again');
      else this.logger.warn({ reason }, 'notifications are opened without being marked when they come again');
    }
    this.#isTold = isTold;
  }
}
