export { createLogger, type Logger, type LoggerOptions, type LogLevel } from './logger.js';
export { redact } from './redact.js';
