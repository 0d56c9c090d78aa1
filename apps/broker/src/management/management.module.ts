import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { EventsModule } from '../events/events.module.js';
import { HttpModule } from '../http/http.module.js';
import { RenewalModule } from '../renewal/renewal.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { managementProviders } from './management.providers.js';
import { ManagementPort } from './management-port.js';
import { SessionMetrics } from './session-metrics.js';

/** What those who run the broker see of it: health, metrics and the status page, on a separate port. */
@Module({
  imports: [RenewalModule, AuthModule, HttpModule, SessionsModule, EventsModule],
  providers: managementProviders,
  exports: [ManagementPort, SessionMetrics],
})
export class ManagementModule {}
