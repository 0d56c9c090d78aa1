import { Injectable } from '@nestjs/common';
import { ConfiguredMerchants } from '../renewal/configured-merchants.js';

/** Allows for the last steps of an attempt after the gateway's own timeout. */
const WAIT_BEYOND_TIMEOUT_MS = 2_000;

/** How long a request waits if its answer needs a renewal and the caller does not say: one whole attempt. */
@Injectable()
export class RenewalWait {
  constructor(private readonly merchants: ConfiguredMerchants) {}

  waitMs(merchant: string): number {
    return (this.merchants.connectionOf(merchant)?.timeoutMs ?? 0) + WAIT_BEYOND_TIMEOUT_MS;
  }
}
