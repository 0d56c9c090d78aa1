import type { Terminal } from '../terminal.js';
import { humanLogLine } from './log-line.js';

/** The services' log lines for people: held back until the demo has said how to use it, then as they come. */
export class ServiceLog {
  readonly #terminal: Terminal;
  #held: string[] | undefined = [];

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  readonly line = (service: string, line: string): void => {
    const text = humanLogLine(service, line);
    if (this.#held === undefined) this.#terminal.out(text);
    else this.#held.push(text);
  };

  open(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const text of held) this.#terminal.out(text);
  }
}
