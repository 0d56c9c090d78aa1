import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { Authenticator } from '../auth/authenticator.service.js';
import { HttpModule } from '../http/http.module.js';
import { RequestLife } from '../http/request-life.js';
import { RenewalModule } from '../renewal/renewal.module.js';
import { EventsController } from './events.controller.js';
import { HandoverNotices } from './handover-notices.js';
import { HandoversController } from './handovers.controller.js';
import { SessionWatchers } from './session-watchers.js';

/** Sessions pushed to those that follow them. */
@Module({
  imports: [RenewalModule, AuthModule, AuditModule, HttpModule],
  controllers: [EventsController, HandoversController],
  providers: [SessionWatchers, HandoverNotices],
  exports: [SessionWatchers],
})
export class EventsModule {
  constructor(life: RequestLife, watchers: SessionWatchers, authenticator: Authenticator) {
    life.onShutDown(() => watchers.endAll());
    authenticator.onKeysChanged(() => watchers.endLost());
  }
}
