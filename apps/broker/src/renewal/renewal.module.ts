import { Module } from '@nestjs/common';
import { SessionReplica } from '#libs/session';
import { ConfiguredMerchants } from './configured-merchants.js';
import { EventFanOut } from './event-fan-out.js';
import { renewalProviders } from './renewal.providers.js';
import { RetiredKeys } from './retired-keys.js';
import { StoreState } from './store-state.js';

/** One replica: what it holds, and what keeps that fresh. */
@Module({
  providers: renewalProviders,
  exports: [SessionReplica, ConfiguredMerchants, RetiredKeys, StoreState, EventFanOut],
})
export class RenewalModule {}
