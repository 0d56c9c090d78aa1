import { Inject, Injectable } from '@nestjs/common';
import type { BrokerConfiguration } from '#libs/configuration';
import { CONFIGURATION } from '../tokens.js';

/** For the last steps of an attempt after the gateway's own timeout. */
const WAIT_BEYOND_TIMEOUT_MS = 2_000;

/** How long a request is held whose answer needs a renewal, when the caller does not say: one attempt, whole. */
@Injectable()
export class Patience {
  readonly #timeouts: ReadonlyMap<string, number>;

  constructor(@Inject(CONFIGURATION) configuration: BrokerConfiguration) {
    this.#timeouts = new Map(configuration.merchants.map(({ id, gateway }) => [id, gateway.timeoutMs]));
  }

  waitMs(merchant: string): number {
    return (this.#timeouts.get(merchant) ?? 0) + WAIT_BEYOND_TIMEOUT_MS;
  }
}
