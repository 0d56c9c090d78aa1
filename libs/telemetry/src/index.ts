export { createLogger, type Logger, type LogLevel } from './logger.js';
export { type AuditLog, type AuditRecord, createAuditLog } from './audit-log.js';
export {
  createEgressInstruments,
  type EgressClientNames,
  type EgressInstruments,
  type EgressOutcome,
  type EgressRequestFacts,
  type EgressSessionGauges,
} from './egress-instruments.js';
export { type CountedConnectionEnd } from './edge-metrics.js';
export {
  createInstruments,
  type CountedRead,
  type CountedRejection,
  type ConfigurationGauges,
  type GaugeSource,
  type Instruments,
  type MerchantGauges,
} from './instruments.js';
export { type CallSpan, isSampledIn, type RequestSpan, type SpanFacts } from './request-spans.js';
export { lastLinesRead } from './standard-output.js';
export { startTelemetry, type Telemetry } from './telemetry.js';
