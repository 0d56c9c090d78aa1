import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { HttpModule } from '../http/http.module.js';
import { RenewalModule } from '../renewal/renewal.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { WantedRenewalsController } from './wanted-renewals.controller.js';

/** Renewals that a person asks for. */
@Module({
  imports: [RenewalModule, AuthModule, AuditModule, HttpModule, SessionsModule],
  controllers: [WantedRenewalsController],
})
export class WantedRenewalsModule {}
