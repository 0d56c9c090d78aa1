import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module.js';
import { AuthModule } from '../auth/auth.module.js';
import { HttpModule } from '../http/http.module.js';
import { RenewalModule } from '../renewal/renewal.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { PayloadCipher } from './payload-cipher.service.js';
import { PayloadsController } from './payloads.controller.js';

/** Payloads sealed and opened with keys that never leave the broker. */
@Module({
  imports: [RenewalModule, AuthModule, AuditModule, HttpModule, SessionsModule],
  controllers: [PayloadsController],
  providers: [PayloadCipher],
  exports: [PayloadCipher],
})
export class PayloadsModule {}
