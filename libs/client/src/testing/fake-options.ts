import { Server } from 'node:http';
import { InvalidInput } from '../errors.js';
import { demandKnownNames, demandKnownOptions } from '../options.js';
import { demandToken } from '../token-source.js';
import { FAKE_ROUTES } from './fake-answers.js';

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
 * The constructor is private for those who have a compiler; everyone else finds out here.
 * @throws InvalidInput `option_invalid`
 */
export function demandStarted(server: unknown): void {
  if (!(server instanceof Server)) throw invalid('a fake broker has to listen first: use await FakeBroker.start()');
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
