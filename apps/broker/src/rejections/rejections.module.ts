import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { HttpModule } from '../http/http.module.js';
import { RenewalModule } from '../renewal/renewal.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { RejectionsController } from './rejections.controller.js';

/** Sessions that consumers report as dead. */
@Module({
  imports: [RenewalModule, AuthModule, AuditModule, HttpModule, SessionsModule],
  controllers: [RejectionsController],
})
export class RejectionsModule {}
