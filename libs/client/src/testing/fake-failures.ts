import { InvalidInput } from '../errors.js';
import { demandKnownNames, demandKnownOptions } from '../options.js';
import { demandToken } from '../token-source.js';
import { FAKE_ROUTES, type FakeAnswer, type FakeRoute, problem } from './fake-answers.js';

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

/** The failures still to come, in the order in which they were requested. */
export class FakeFailures {
  #pending: { readonly failure: FakeFailure; left: number }[] = [];

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

/** The statuses with which the broker refuses; a failure with a success status would pass for an answer. */
const MIN_STATUS = 400;
const MAX_STATUS = 599;
/** The longest delay of a Node.js timer; anything longer would fire at once. */
const MAX_LIFETIME_MS = 2 ** 31 - 1;
const MAX_RETRY_AFTER_S = 86_400;

const invalid = (fault: string): InvalidInput => new InvalidInput('option_invalid', fault);
const isIntegerWithin = (value: unknown, least: number, most: number): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;

/**
 * A test that asks for something that does not exist proves nothing, and JavaScript has no compiler to say so.
 * @throws InvalidInput `option_invalid`
 */
export function demandFakeOptions(options: object): void {
  demandKnownOptions(options, ['merchant', 'token', 'lifetimeMs']);
  const { merchant, token, lifetimeMs } = options as Readonly<Record<string, unknown>>;
  if (merchant !== undefined && (typeof merchant !== 'string' || merchant === '')) {
    throw invalid('merchant must be the id of a merchant');
  }
  if (token !== undefined) demandToken(token);
  if (lifetimeMs !== undefined && !isIntegerWithin(lifetimeMs, 1, MAX_LIFETIME_MS)) {
    throw invalid('lifetimeMs must be whole milliseconds, more than 0');
  }
}

/**
 * Like `demandFakeOptions`, for a requested failure.
 * @throws InvalidInput `option_invalid`
 */
export function demandFakeFailure(failure: object): void {
  demandKnownOptions(failure ?? null, ['route', 'times', 'with']);
  const { route, times, with: how } = failure as Readonly<Record<string, unknown>>;
  if (route !== undefined) demandKnownNames([typeof route === 'string' ? route : ''], FAKE_ROUTES, 'route');
  if (times !== undefined && times !== Infinity && !isIntegerWithin(times, 1, Number.MAX_SAFE_INTEGER)) {
    throw invalid('times must be a whole number, more than 0, or Infinity');
  }
  if (typeof how === 'string') return demandKnownNames([how], ['disconnect', 'silence'], 'failure');
  if (typeof how !== 'object' || how === null) {
    throw invalid("with must be { status, code, retryAfterS }, 'disconnect' or 'silence'");
  }
  demandFakeStatus(how);
}

function demandFakeStatus(how: object): void {
  demandKnownOptions(how, ['status', 'code', 'retryAfterS']);
  const { status, code, retryAfterS } = how as Readonly<Record<string, unknown>>;
  if (!isIntegerWithin(status, MIN_STATUS, MAX_STATUS)) {
    throw invalid(`status of a failure must be a whole number from ${MIN_STATUS} to ${MAX_STATUS}`);
  }
  if (typeof code !== 'string' || !/^[a-z_]+$/.test(code)) throw invalid('code must be one of docs/errors.md');
  if (retryAfterS !== undefined && !isIntegerWithin(retryAfterS, 0, MAX_RETRY_AFTER_S)) {
    throw invalid(`retryAfterS must be whole seconds, ${MAX_RETRY_AFTER_S} at most`);
  }
}
