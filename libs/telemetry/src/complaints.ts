import { type Clock } from '#libs/clock';
import type { Logger } from './logger.js';

const REPEATED_AFTER_MS = 600_000;
/** If there are more different complaints than this, they are the same one with a counter in it. */
const MAX_REMEMBERED = 50;
/** The beginning distinguishes complaints; addresses, counts and stacks follow it. */
const TELLING = 60;

type Level = 'debug' | 'warn' | 'error';

/**
 * The library's own complaints, sent through our logger and its redaction: each once in ten minutes, not with every
 * batch.
 */
export class Complaints {
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #saidAtMs = new Map<string, number>();

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  say(level: Level, message: string): void {
    const now = this.#clock.monotonicMs();
    const telling = `${level} ${message.slice(0, TELLING)}`;
    if (now - (this.#saidAtMs.get(telling) ?? -Infinity) < REPEATED_AFTER_MS) return;
    if (this.#saidAtMs.size >= MAX_REMEMBERED) this.#saidAtMs.clear();
    this.#saidAtMs.set(telling, now);
    this.#logger[level]({ library: 'opentelemetry' }, message);
  }
}
