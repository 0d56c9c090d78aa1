import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '#libs/clock';
import type { EgressRoute } from '#libs/configuration';
import { Places, requestIdOf } from '#libs/edge';
import { BrokerError } from '#libs/errors';
import type { EgressOutcome, Logger, Telemetry } from '#libs/telemetry';
import { answerFailure } from '../answers/answer-failure.js';
import { type Caller, formShown } from '../callers/callers.js';
import type { Deployment } from '../deployment/deployment.js';
import type { DeploymentInForce } from '../deployment/deployment-in-force.js';
import { MAX_TARGET_LENGTH, type RequestTarget, requestTargetOf } from '../server/request-target.js';
import type { Arrival } from './arrival.js';
import { exchangeClear } from './clear-exchange.js';
import { isCreateCall, answerCreateCall, demandPost } from './create-call.js';
import { readWhole } from './request-body.js';
import { exchangeSealed } from './sealed-exchange.js';
import type { RequestEnds } from './request-ends.js';
import { outcomeOf, RequestRecord } from './request-record.js';

export interface TrafficParts {
  readonly inForce: DeploymentInForce;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly ends: RequestEnds;
  /** Absent while traces go nowhere. */
  readonly traces: Telemetry['traces'];
}

const MAX_UNDER_WAY = 1_024;
/** Half of them for strangers: until it is answered, nobody knows who makes a create call. */
const MAX_CREATE_CALLS = 64;
/** Longer than the slowest client takes that is not there to keep others out. */
const BODY_WITHIN_MS = 10_000;
/** Beyond 64 KiB there is no request of the interface; an answer may be longer. */
const MAX_BODY_BYTES = 65_536;
const MAX_JWE_OVERHEAD_BYTES = 1_024;

/**
 * Reported by metrics, by the audit and, if there is no session, once where that is noticed: a line for each would
 * flood the log.
 */
const NOT_SENT: ReadonlySet<EgressOutcome> = new Set(['refused', 'client_gone', 'no_session']);

/** Every request that arrives: let in, sent on, answered and reported. */
export class Traffic {
  readonly #parts: TrafficParts;
  readonly #idle = new Set<() => void>();
  readonly #places = new Places(MAX_UNDER_WAY);
  readonly #createCalls = new Places(MAX_CREATE_CALLS);
  #inFlight = 0;
  #isEnding = false;

  constructor(parts: TrafficParts) {
    this.#parts = parts;
  }

  /** Never throws: whatever goes wrong is answered and logged here. */
  async serve(arrival: Arrival): Promise<void> {
    const { clock, inForce, ends } = this.#parts;
    const { request, response } = arrival;
    const startedMs = clock.monotonicMs();
    const requestId = requestIdOf(request);
    const record = new RequestRecord();
    const gone = goneOf(request.socket);
    this.#inFlight += 1;
    ends.begun();
    const deployment = inForce.enter();
    try {
      await this.#admit({ arrival, deployment, record, requestId, gone });
      if (gone.aborted && !response.writableFinished && record.outcome === 'answered') record.outcome = 'client_gone';
    } catch (error) {
      this.#fail(error, { arrival, record, requestId, isGone: gone.aborted });
    } finally {
      inForce.leave(deployment);
      this.#inFlight -= 1;
      const seconds = (clock.monotonicMs() - startedMs) / 1_000;
      this.#warnOfCard(record, requestId);
      ends.ended({ record, response, requestId, seconds });
      if (this.#inFlight === 0) for (const tell of this.#idle) tell();
    }
  }

  /** Lets no one in any more. @returns when the last request has ended */
  end(): Promise<void> {
    this.#isEnding = true;
    if (this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.add(resolve));
  }

  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** A place is taken last, by a known client with a whole body: nobody keeps others out by waiting. */
  async #admit({ arrival, deployment, record, requestId, gone }: Admission): Promise<void> {
    const { request, response, wantBody } = arrival;
    record.form = formShown(request);
    if (this.#isEnding) throw new BrokerError('shutting_down', { retryAfterMs: 1_000 });
    const target = targetOf(arrival);
    if (isCreateCall(target.path)) {
      const { clock } = this.#parts;
      const { alias } = deployment;
      const { query } = target;
      return answerCreateCall({ arrival, query, alias, record, requestId, clock, places: this.#createCalls });
    }
    const { client, form } = identify(deployment, request, record);
    record.client = client.name;
    record.merchant = client.merchant;
    record.form = form;
    const route = deployment.routes.find(target.path);
    if (route === undefined) {
      throw new BrokerError('route_not_found', { publicDetail: 'the path matches none of the routes of this egress' });
    }
    record.route = route.path;
    demandPost(request);
    record.span = this.#parts.traces?.startRequest({
      method: request.method ?? '',
      route: route.path,
      headers: request.headers,
    });
    const parts = deployment.of(client.merchant);
    const maxBytes = longestBody(route, form);
    const body = await readWhole(request, { maxBytes, withinMs: BODY_WITHIN_MS, clock: this.#parts.clock, wantBody });
    const leave = this.#places.take(client.name);
    try {
      const admitted = { request, response, requestId, client, form, route, target, body, gone, record };
      await (route.body === 'clear' ? exchangeClear(admitted, parts) : exchangeSealed(admitted, parts));
    } finally {
      leave();
    }
  }

  #warnOfCard({ hasCard, client, route }: RequestRecord, requestId: string): void {
    if (hasCard) this.#parts.logger.warn({ requestId, client, route }, 'a body seems to hold a card number in clear');
  }

  #fail(error: unknown, { arrival, record, requestId, isGone }: Failing): void {
    const { logger } = this.#parts;
    const { request, response } = arrival;
    const failure = error instanceof BrokerError ? error : new BrokerError('internal_error', { cause: error });
    record.outcome = isGone && outcomeOf(failure.code) === 'refused' ? 'client_gone' : outcomeOf(failure.code);
    const { client, merchant, route, outcome } = record;
    const fields = { requestId, client, merchant, route, outcome, code: failure.code, detail: failure.detail };
    if (failure.code === 'internal_error') logger.error({ ...fields, error }, 'a request failed');
    else if (NOT_SENT.has(outcome)) logger.debug(fields, 'a request was not sent on');
    else logger.warn(fields, 'a request has no answer of the gateway');
    if (response.headersSent) response.destroy();
    else answerFailure(failure, { request, response, requestId, form: record.form });
  }
}

const goneSignals = new WeakMap<Socket, AbortSignal>();

/** One for all requests of a connection: they come one after the other. */
function goneOf(socket: Socket): AbortSignal {
  const known = goneSignals.get(socket);
  if (known !== undefined) return known;
  const gone = new AbortController();
  socket.once('close', () => gone.abort(new BrokerError('request_timeout', { detail: 'the client went away' })));
  goneSignals.set(socket, gone.signal);
  return gone.signal;
}

interface Admission {
  readonly arrival: Arrival;
  readonly deployment: Deployment;
  readonly record: RequestRecord;
  readonly requestId: string;
  readonly gone: AbortSignal;
}

interface Failing {
  readonly arrival: Arrival;
  readonly record: RequestRecord;
  readonly requestId: string;
  readonly isGone: boolean;
}

function identify({ callers }: Deployment, request: IncomingMessage, record: RequestRecord): Caller {
  try {
    return callers.identify(request);
  } catch (error) {
    record.isCallerRefused = true;
    throw error;
  }
}

const TOO_LONG = `the path with its query is longer than ${MAX_TARGET_LENGTH} characters`;
const SLASH_AT_END = 'the path ends with a slash, which is not passed on: leave that slash out';

function whatIsWrongWith(url = ''): string {
  if (url.length > MAX_TARGET_LENGTH) return TOO_LONG;
  const [path = ''] = url.split('?', 1);
  const isRightWithoutSlash = path.endsWith('/') && requestTargetOf(path.slice(0, -1)) !== undefined;
  return isRightWithoutSlash ? SLASH_AT_END : 'the path has characters or parts that are not passed on';
}

function longestBody({ maxBytes, body }: EgressRoute, form: Caller['form']): number {
  const longest = Math.min(maxBytes, MAX_BODY_BYTES);
  return body === 'sealed' && form === 'alias' ? Math.ceil((longest * 4) / 3) + MAX_JWE_OVERHEAD_BYTES : longest;
}

function targetOf({ request: { url, headers }, response }: Arrival): RequestTarget {
  if ((headers['transfer-encoding'] ?? 'chunked').toLowerCase() !== 'chunked') {
    // Somebody else may see its end elsewhere.
    response.shouldKeepAlive = false;
    throw new BrokerError('invalid_request', { publicDetail: 'the only Transfer-Encoding is chunked' });
  }
  const target = requestTargetOf(url);
  if (target !== undefined) return target;
  throw new BrokerError('invalid_request', { publicDetail: whatIsWrongWith(url) });
}
