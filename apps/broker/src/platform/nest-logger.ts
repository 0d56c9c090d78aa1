import type { LoggerService } from '@nestjs/common';
import type { Logger } from '#libs/telemetry';

/** Routes the framework's logging through our logger. Its start-up chatter is only for debugging. */
export class NestLogger implements LoggerService {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  log(message: unknown): void {
    this.#logger.debug({ framework: true }, String(message));
  }

  warn(message: unknown): void {
    this.#logger.warn({ framework: true }, String(message));
  }

  error(message: unknown): void {
    this.#logger.error({ framework: true }, String(message));
  }
}
