import { type FakeAnswer, type FakeRoute, problem } from './fake-answers.js';
import { demandFakeFailure } from './fake-options.js';

/** A failure that a test asks for. */
export interface FakeFailure {
  /** Which requests fail; all of them by default. */
  readonly route?: FakeRoute | undefined;
  /** How many requests fail; 1 by default. `Infinity` means until `recover()`. */
  readonly times?: number | undefined;
  /** A status and a code; or no answer at all: the connection is cut, or nothing is ever sent. */
  readonly with:
    { readonly status: number; readonly code: string; readonly retryAfterS?: number } | 'disconnect' | 'silence';
}

interface Pending {
  readonly failure: FakeFailure;
  left: number;
}

/** The failures still to come, in the order in which they were requested. */
export class FakeFailures {
  #pending: Pending[] = [];

  /** @throws InvalidInput */
  add(failure: FakeFailure): void {
    demandFakeFailure(failure);
    this.#pending.push({ failure, left: failure.times ?? 1 });
  }

  clear(): void {
    this.#pending = [];
  }

  /** @returns how this request fails, if it does */
  next(route: FakeRoute): FakeAnswer | 'disconnect' | 'silence' | undefined {
    const found = this.#pending.find(({ failure, left }) => left > 0 && (failure.route ?? route) === route);
    if (found === undefined) return undefined;
    found.left -= 1;
    const how = found.failure.with;
    if (typeof how === 'string') return how;
    const { status, code, retryAfterS } = how;
    const headers: Record<string, string> = retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) };
    const answer = problem(status, code);
    return { ...answer, headers: { ...answer.headers, ...headers } };
  }
}
