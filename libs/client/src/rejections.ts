import type { Attempts } from './attempts.js';
import type { BrokerHttp } from './broker-http.js';
import { ProtocolError, type Rejection } from './errors.js';
import { brokerTimeMs, requestIdOf } from './problem.js';
import { readSession, type Session } from './session.js';
import type { SessionShelf } from './session-shelf.js';
import { SingleFlight } from './single-flight.js';

export interface RejectionsParts {
  readonly http: BrokerHttp;
  readonly shelf: SessionShelf;
  readonly attempts: Attempts;
  readonly merchant: string;
}

/**
 * Reports dead sessions to the broker, and gets the newer ones. One report per generation, however many callers notice.
 */
export class Rejections {
  readonly #parts: RejectionsParts;
  readonly #reports = new SingleFlight<number, Session>();

  constructor(parts: RejectionsParts) {
    this.#parts = parts;
  }

  /**
   * @returns a session newer than the rejected one
   * @throws SessionBrokerError; CallAborted when the signal aborts
   */
  report(rejection: Rejection, signal?: AbortSignal): Promise<Session> {
    return this.#reports.join(rejection.generation, (shared) => this.#replace(rejection, shared), signal);
  }

  /** The outcome of the report in progress, if there is one. */
  underway(generation: number, signal?: AbortSignal): Promise<Session> | undefined {
    return this.#reports.joinUnderway(generation, signal);
  }

  async #replace(rejection: Rejection, shared: AbortSignal): Promise<Session> {
    const { shelf, attempts } = this.#parts;
    shelf.suspect(rejection.generation);
    try {
      return await shelf.orArrival(
        ({ session }) => session.generation > rejection.generation,
        (overtaken) => attempts.run((signal) => this.#send(rejection, signal), [shared, overtaken]),
      );
    } catch (error) {
      shelf.acquit(rejection.generation);
      throw error;
    }
  }

  async #send({ generation, reason }: Rejection, signal: AbortSignal): Promise<Session> {
    const { http, shelf, merchant } = this.#parts;
    const call = { path: '/session/rejections', body: { generation, reason }, signal };
    const { answer, document } = await http.json(call);
    const session = document === undefined ? undefined : readSession(document, merchant);
    if (session === undefined || session.generation <= generation) {
      const facts = { status: answer.status, requestId: requestIdOf(answer) };
      throw new ProtocolError('session_not_newer', 'The broker gave no newer session for a rejected one', facts);
    }
    shelf.offer(session, { source: 'rejection', brokerTimeMs: brokerTimeMs(answer) });
    return shelf.valid()?.session ?? session;
  }
}
