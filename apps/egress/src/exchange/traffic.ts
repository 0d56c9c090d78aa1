import type { IncomingMessage } from 'node:http';
import type { Clock } from '#libs/clock';
import { requestIdOf } from '#libs/edge';
import { BrokerError } from '#libs/errors';
import type { EgressOutcome, Logger, Telemetry } from '#libs/telemetry';
import { answerFailure } from '../answers/answer-failure.js';
import { type Caller, isOfAliasForm } from '../callers/callers.js';
import type { Deployment } from '../deployment/deployment.js';
import type { DeploymentInForce } from '../deployment/deployment-in-force.js';
import { type RequestTarget, requestTargetOf } from '../server/request-target.js';
import type { Arrival } from './arrival.js';
import { exchangeClear } from './clear-exchange.js';
import { isCreateCall, answerCreateCall } from './create-call.js';
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

/** Any more would be a queue, and a payment that would wait in one is better refused. */
const MAX_IN_FLIGHT = 1_024;
const REFUSED_METHODS: ReadonlySet<string> = new Set(['CONNECT', 'TRACE']);

/**
 * Reported by metrics, by the audit and, if there is no session, once where that is noticed: a line for each would
 * flood the log.
 */
const NOT_SENT: ReadonlySet<EgressOutcome> = new Set(['refused', 'client_gone', 'no_session']);

/** Every request that arrives: let in, sent on, answered and reported. */
export class Traffic {
  readonly #parts: TrafficParts;
  readonly #idle = new Set<() => void>();
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
    const gone = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished)
        gone.abort(new BrokerError('request_timeout', { detail: 'the client went away' }));
    });
    this.#inFlight += 1;
    ends.begun();
    const deployment = inForce.enter();
    try {
      await this.#admit({ arrival, deployment, record, requestId, gone: gone.signal });
      if (gone.signal.aborted && record.outcome === 'answered') record.outcome = 'client_gone';
    } catch (error) {
      this.#fail(error, { arrival, record, requestId, isGone: gone.signal.aborted });
    } finally {
      inForce.leave(deployment);
      this.#inFlight -= 1;
      const seconds = (clock.monotonicMs() - startedMs) / 1_000;
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

  async #admit({ arrival, deployment, record, requestId, gone }: Admission): Promise<void> {
    const { request, response, wantBody } = arrival;
    if (isOfAliasForm(request)) record.form = 'alias';
    if (this.#isEnding) throw new BrokerError('shutting_down', { retryAfterMs: 1_000 });
    if (this.#inFlight > MAX_IN_FLIGHT) throw new BrokerError('overloaded', { retryAfterMs: 1_000 });
    const target = targetOf(request);
    if (isCreateCall(target.path)) {
      return answerCreateCall({ arrival, query: target.query, alias: deployment.alias, record, requestId });
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
    record.span = this.#parts.traces?.startRequest({
      method: request.method ?? '',
      route: route.path,
      headers: request.headers,
    });
    const parts = { ...deployment.of(client.merchant), alias: deployment.alias };
    const path = target.path + target.query;
    const admitted = { request, response, requestId, client, form, route, path, wantBody, gone, trail: record };
    await (route.body === 'clear' ? exchangeClear(admitted, parts) : exchangeSealed(admitted, parts));
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

const DOUBLED_SLASH =
  'there is // in the path, which is not passed on: write the base URL of the egress without the slash at its end';
const SLASH_AT_END = 'the path ends with a slash, which is not passed on: leave that slash out';

function whatIsWrongWith(url = ''): string {
  const [path = ''] = url.split('?', 1);
  if (path.includes('//')) return DOUBLED_SLASH;
  const isRightWithoutSlash = path.endsWith('/') && requestTargetOf(path.slice(0, -1)) !== undefined;
  return isRightWithoutSlash ? SLASH_AT_END : 'the path has characters or parts that are not passed on';
}

function targetOf({ method, url }: IncomingMessage): RequestTarget {
  if (REFUSED_METHODS.has(method ?? '')) throw new BrokerError('method_not_allowed');
  const target = requestTargetOf(url);
  if (target !== undefined) return target;
  throw new BrokerError('invalid_request', { publicDetail: whatIsWrongWith(url) });
}
