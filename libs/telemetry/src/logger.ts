import { context, trace } from '@opentelemetry/api';
import { pino } from 'pino';
import { SystemClock, toRfc3339, type Clock } from '#libs/clock';
import { isError } from './error-fields.js';
import { redact } from './redact.js';
import { redactText } from './redact-text.js';
import { standardOutput } from './standard-output.js';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Structured log lines. Fields and message are redacted on output, so the caller need not do anything else. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** A logger that adds these fields to each of its lines; a line's own field of the same name wins. */
  child(bindings: object): Logger;
}

/** The logger of a program. */
interface RootLogger extends Logger {
  /** Applies to every line from now on, including those of its children. */
  setLevel(level: LogLevel): void;
}

interface LoggerOptions {
  /** The program that writes: `broker`, `sandbox`, … */
  readonly name: string;
  /** The lowest level that is written. Default `info`. */
  readonly level?: LogLevel;
  /** Receives whole lines, each with its line feed. Default: standard output. */
  readonly destination?: { write(line: string): void };
  readonly clock?: Clock;
}

/**
 * Names that pino itself writes: a field with such a name would appear twice in the line, and readers would use the
 * last.
 */
const RESERVED = new Set(['level', 'time', 'name', 'msg']);

/** JSON lines: level as a word, time as RFC 3339 in UTC, name, the fields, and the message under `msg`. */
export function createLogger(options: LoggerOptions): RootLogger {
  const clock = options.clock ?? new SystemClock();
  const lines = pino(
    {
      level: options.level ?? 'info',
      base: { name: options.name },
      timestamp: () => `,"time":"${toRfc3339(clock.now())}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: {},
      mixin: traceFields,
    },
    options.destination ?? standardOutput(),
  );
  return { ...loggerWith(lines, {}), setLevel: (level) => void (lines.level = level) };
}

/** The trace that a line belongs to, if one is recorded (OpenTelemetry, trace context in non-OTLP log formats). */
function traceFields(): object {
  const span = trace.getSpanContext(context.active());
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
}

/** Bindings are kept here rather than in a pino child: if a line sets such a field again, pino would print it twice. */
function loggerWith(lines: pino.Logger, bindings: object): Logger {
  const write =
    (level: LogLevel) =>
    (fields: object, message: string): void => {
      if (lines.isLevelEnabled(level)) lines[level]({ ...bindings, ...fieldsOf(fields) }, redactText(message));
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (more) => loggerWith(lines, { ...bindings, ...fieldsOf(more) }),
  };
}

function fieldsOf(fields: object): object {
  const safe = redact(fields);
  if (typeof safe !== 'object' || safe === null || Array.isArray(safe)) return { value: safe };
  if (isError(fields)) return { err: safe };
  return Object.fromEntries(
    Object.entries(safe).map(([key, value]) => [RESERVED.has(key) ? `field.${key}` : key, value as unknown]),
  );
}
