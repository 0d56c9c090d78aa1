import type { Terminal } from '../terminal.js';
import { humanLogLine } from './log-line.js';

/**
 * The services' log lines for people: held back until the demo has explained how to use it, then printed as they come.
 */
export class ServiceLog {
  readonly #terminal: Terminal;
  #kept: string[] | undefined = [];

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  readonly line = (service: string, line: string): void => {
    const text = humanLogLine(service, line);
    if (this.#kept === undefined) this.#terminal.out(text);
    else this.#kept.push(text);
  };

  open(): void {
    const kept = this.#kept ?? [];
    this.#kept = undefined;
    for (const text of kept) this.#terminal.out(text);
  }
}
