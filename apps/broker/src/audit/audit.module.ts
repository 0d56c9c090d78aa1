import { Module } from '@nestjs/common';
import type { Clock } from '#libs/clock';
import { type AuditLog, createAuditLog, type Logger } from '#libs/telemetry';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { CLOCK, LOGGER } from '../platform/tokens.js';
import { AUDIT_LOG, AuditTrail } from './audit-trail.js';

/** A record that cannot be written is reported in the log, and the broker goes on: payments matter more. */
function openAuditLog({ current: { audit, merchants } }: ConfigurationInForce, clock: Clock, logger: Logger): AuditLog {
  const onFailure = (error: unknown): void => logger.error({ error }, 'an audit record was not written');
  const auditLog = createAuditLog({ destination: audit.destination, clock, onFailure });
  auditLog.append({ action: 'configuration.load', outcome: 'allowed', count: merchants.length });
  return auditLog;
}

/** Who did what and when. */
@Module({
  providers: [
    { provide: AUDIT_LOG, inject: [ConfigurationInForce, CLOCK, LOGGER], useFactory: openAuditLog },
    AuditTrail,
  ],
  exports: [AUDIT_LOG, AuditTrail],
})
export class AuditModule {}
