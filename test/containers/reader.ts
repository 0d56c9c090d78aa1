import { end, startHeard } from './child-processes.js';
import type { Engine } from './engine.js';

interface Read {
  readonly status: number;
  readonly code: string;
  readonly retryAfter: string;
  readonly ms: number;
}

/** What a series of reads, made one after the other, saw. */
export class Reads {
  readonly #reads: readonly Read[];

  constructor(reads: readonly Read[]) {
    this.#reads = reads;
  }

  get count(): number {
    return this.#reads.length;
  }

  get slowestMs(): number {
    return Math.max(0, ...this.#reads.map(({ ms }) => ms));
  }

  /** Those that a healthy broker does not give: anything but a session. */
  get unanswered(): number {
    return this.#reads.filter(({ status }) => status !== 200).length;
  }

  /** Whether every answer said that there is no session, and when to come back. */
  get saysWhyEachTime(): boolean {
    return this.#reads.every(({ status, code, retryAfter }) => status === 503 && code !== '' && retryAfter !== '');
  }

  /** `60 of 60 answered, slowest 12 ms`, or with the statuses seen instead. */
  toString(): string {
    const others = new Map<string, number>();
    for (const { status, code } of this.#reads.filter((read) => read.status !== 200)) {
      const seen = `${status} ${code}`.trim();
      others.set(seen, (others.get(seen) ?? 0) + 1);
    }
    const rest = [...others].map(([seen, times]) => `, ${times} × ${seen}`).join('');
    return `${this.count - this.unanswered} of ${this.count} reads have a session${rest}; slowest ${this.slowestMs} ms`;
  }
}

const reader = new URL('./reads.js', import.meta.url).pathname;

/** Reads a merchant's session through the balancer for as long as an action takes. */
export async function readWhile(engine: Engine, merchant: string, act: () => Promise<unknown>): Promise<Reads> {
  const url = `http://127.0.0.1:8080/v1/merchants/${merchant}/session`;
  const child = startHeard([...engine.beside, process.execPath, reader, url, 'demo-token']);
  let said = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (said += text));
  try {
    await act();
  } finally {
    await end(child, 'SIGTERM');
  }
  const lines = said.split('\n').slice(0, -1);
  return new Reads(lines.map((line) => JSON.parse(line) as Read));
}
