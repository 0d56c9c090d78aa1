import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { HttpModule } from '../http/http.module.js';
import { RequestLife } from '../http/request-life.js';
import { RenewalModule } from '../renewal/renewal.module.js';
import { EventsController } from './events.controller.js';
import { SessionWatchers } from './session-watchers.js';

/** Sessions that are pushed to those who follow them. */
@Module({
  imports: [RenewalModule, AuditModule, HttpModule],
  controllers: [EventsController],
  providers: [SessionWatchers],
  exports: [SessionWatchers],
})
export class EventsModule {
  constructor(life: RequestLife, watchers: SessionWatchers) {
    life.onShutDown(() => watchers.endAll());
  }
}
