import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { HttpModule } from '../http/http.module.js';
import { PayloadsModule } from '../payloads/payloads.module.js';
import { RenewalModule } from '../renewal/renewal.module.js';
import { NotificationsController } from './notifications.controller.js';

/** Notifications from the gateway, opened for whoever received them. */
@Module({
  imports: [RenewalModule, AuthModule, AuditModule, HttpModule, PayloadsModule],
  controllers: [NotificationsController],
})
export class NotificationsModule {}
