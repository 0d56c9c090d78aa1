export { createLogger, type Logger, type LoggerOptions, type LogLevel, type RootLogger } from './logger.js';
export { type AuditLog, type AuditRecord, createAuditLog } from './audit-log.js';
export { redact } from './redact.js';
export {
  createInstruments,
  type CountedRead,
  type CountedRejection,
  type ConfigurationGauges,
  type GaugeSource,
  type Instruments,
  type MerchantGauges,
} from './instruments.js';
export { isSampledIn, type RequestSpan, type TracedRequest } from './request-spans.js';
export { startTelemetry, type Telemetry, type TelemetryOptions, type Traces } from './telemetry.js';
