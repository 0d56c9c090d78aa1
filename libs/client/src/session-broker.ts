import { BrokerHttp } from './broker-http.js';
import { CallGate } from './call-gate.js';
import { tell } from './client-event.js';
import type { ClientParts } from './client-parts.js';
import { reasonOf } from './deadline.js';
import {
  afterRejection,
  AnswerUnopened,
  BrokerUnavailable,
  ClientClosed,
  GatewayRefused,
  InvalidInput,
  notSent,
  placed,
  ProtocolError,
  rejectedTwice,
  SessionBrokerError,
  SessionRejected,
} from './errors.js';
import { FIND_OUT, gatewayCall, type GatewayRequest, REVOKED } from './gateway-call.js';
import { isJsonObject, isText, type JsonObject, parsedJson } from './json.js';
import { seal } from './jwe.js';
import { type OpenedNotification, openJwe, openNotification, type ReceivedNotification } from './opening.js';
import { invalid, type SessionBrokerOptions, settingsFrom } from './options.js';
import type { Session } from './session.js';
import { SessionFollower } from './session-follower.js';
import { SessionRequests } from './session-requests.js';
import { SessionShelf } from './session-shelf.js';

/** Options of every call. */
export interface CallOptions {
  /** Ends the call with `CallAborted`, whose cause is the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What became of a payment. Not found: the bank has none by now; one that was sent just before may still arrive. */
export type LookedUp = { readonly found: true; readonly operation: JsonObject } | { readonly found: false };

/** As published: the code of an operation that the bank does not have, with its status. */
const NOT_FOUND: Readonly<Record<string, number>> = { b_operation_not_found: 200, payment_operation_not_found: 404 };
const LOOK_UP = '/ecom/execute_request/payments/v1/operation/by_merchant_request_id';

/** One merchant's session from the broker, held in memory and kept fresh until `close`. */
export class SessionBroker {
  readonly #parts: ClientParts;
  readonly #closing = new AbortController();
  readonly #requests: SessionRequests;
  readonly #follower: SessionFollower | undefined;
  readonly #gate: CallGate;

  /** @throws InvalidInput */
  constructor(options: SessionBrokerOptions) {
    const settings = settingsFrom(options);
    const shelf = new SessionShelf(settings.time);
    const parts = { ...settings, http: new BrokerHttp(settings), shelf, closed: this.#closing.signal };
    shelf.onNewer(({ generation, expiresAt }, { source }) => {
      tell(settings.onEvent, { type: 'session', generation, expiresAt, source });
    });
    const gate = new CallGate(parts);
    this.#parts = parts;
    this.#gate = gate;
    this.#requests = new SessionRequests(parts);
    const isFollowing = settings.follow !== 'none';
    this.#follower = isFollowing ? new SessionFollower(parts, (notice) => gate.notice(notice)) : undefined;
  }

  /**
   * The current session, from memory while it is valid, otherwise from the broker. Never one past its expiry.
   * @throws SessionBrokerError; CallAborted when the signal aborts
   */
  async session({ signal }: CallOptions = {}): Promise<Session> {
    this.#demandOpen(signal);
    const held = this.#parts.shelf.valid();
    if (held === undefined) return this.#read(signal);
    const replacing = this.#requests.underway(held.generation, signal);
    return replacing === undefined ? held : this.#orHeld(replacing);
  }

  /**
   * The session in memory, if it is valid, without asking the broker. There is one once `session()` has returned one,
   * and from then on as long as the client follows the broker.
   */
  current(): Session | undefined {
    return this.#parts.shelf.valid();
  }

  /**
   * How long the session in memory is still valid, in milliseconds by this process's monotonic clock; 0 without one.
   * `expiresAt` is of the broker's clock.
   */
  remainingMs(): number {
    return this.#parts.shelf.remainingMs();
  }

  /**
   * Sends one request to the gateway, such as a payment, and gives its answer, opened if it is sealed: `fetch(path,
   * { sealed: refund })`, or `json` for the hosted page. If the gateway refuses the session as dead, sends it once more
   * with a newer one; nothing else is ever repeated.
   * @throws GatewayRefused with the gateway's code; AnswerUnopened if the bank has it; AnswerLost if nobody knows; any
   * other SessionBrokerError if it was not sent or refused with its session
   */
  async fetch(path: string, request: GatewayRequest): Promise<JsonObject> {
    const { signal } = request;
    const answer = await this.withSession(gatewayCall(path, request, this.#parts), { signal });
    const { jwe } = answer;
    if (!isText(jwe)) return answer;
    const opened = parsedJson(new TextDecoder().decode(await this.decrypt(jwe, { signal })));
    if (isJsonObject(opened)) return opened;
    throw unopened(placed(new ProtocolError('not_text', 'What the JWE holds is no JSON object'), this.#parts));
  }

  /**
   * What became of a payment or refund, also of one whose answer was lost. It says nothing of an unpaid order.
   * @throws as fetch
   */
  async lookUp(merchantRequestId: string, options: CallOptions = {}): Promise<LookedUp> {
    if (!isText(merchantRequestId)) throw invalid('merchantRequestId is missing');
    try {
      return { found: true, operation: await this.fetch(LOOK_UP, { sealed: { merchantRequestId }, ...options }) };
    } catch (error) {
      if (error instanceof GatewayRefused && NOT_FOUND[error.code] === error.status) return { found: false };
      throw error;
    }
  }

  /**
   * For requests that something else sends: runs `fn` with the session. If `fn` throws `SessionRejected`, for which
   * `deadSessionCode` gives the reason, the broker is told, and `fn` runs once more with a newer one, never a third
   * time. Anything sealed to the session has to be sealed again, so do that inside `fn`. While the broker replaces the
   * session, a call waits for the next one before it begins.
   * @throws whatever `fn` throws; SessionRejected, with that as its cause, if the gateway rejected the second session
   * too; SessionBrokerError with a `rejection`, whose cause is what `fn` threw, if there is no newer session
   */
  async withSession<T>(fn: (session: Session) => T | Promise<T>, { signal }: CallOptions = {}): Promise<T> {
    const session = await (this.#enterAtOnce(signal) ?? this.#enter(signal));
    try {
      return await fn(session);
    } catch (error) {
      if (!isRejection(error)) throw error;
      const newer = await this.#replacement(session, error, signal);
      return await this.#again(fn, newer);
    } finally {
      this.#gate.leave();
    }
  }

  /**
   * Seals a payload to any public key of the profile (EC, P-384), such as the bank's payment key, in this process.
   * @throws InvalidInput
   */
  encryptFor(jwk: object, payload: string | Uint8Array): Promise<string> {
    return seal(jwk, payload);
  }

  /**
   * Has the broker open a JWE that the gateway sealed to the merchant's key; retried until the call's time is up.
   * @throws AnswerUnopened: a JWE from the gateway is its answer, so the bank has the request; its cause is what the
   * broker said (`jwe_not_opened` and the like as RequestRefused), or CallAborted. InvalidInput if there is no JWE
   */
  async decrypt(jwe: string, { signal }: CallOptions = {}): Promise<Uint8Array> {
    if (typeof jwe !== 'string') throw new InvalidInput('jwe_invalid', `A JWE is a string, not ${typeof jwe}`);
    try {
      this.#demandOpen();
      return await openJwe(this.#parts, jwe, signal);
    } catch (error) {
      throw unopened(error);
    }
  }

  /**
   * What a notification of the gateway says: the broker opens it if it is sealed, and checks its form.
   * @throws SessionBrokerError (`notification_invalid` and the like as RequestRefused); CallAborted
   */
  async openNotification(received: ReceivedNotification, { signal }: CallOptions = {}): Promise<OpenedNotification> {
    this.#demandOpen();
    return openNotification(this.#parts, received, signal);
  }

  /** Ends everything: calls in progress reject with ClientClosed, and nothing keeps the process alive any more. */
  async close(): Promise<void> {
    this.#closing.abort(ClientClosed.at(this.#parts));
    this.#gate.release();
    this.#parts.shelf.clear();
    await this.#follower?.ended();
  }

  /** `await using broker = new SessionBroker(…)` closes it at the end of the block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** What a log may show. */
  [Symbol.for('nodejs.util.inspect.custom')](): object {
    const { brokerUrl, merchant, shelf } = this.#parts;
    return { url: brokerUrl, merchant, generation: shelf.valid()?.generation };
  }

  async #again<T>(fn: (newer: Session) => T | Promise<T>, newer: Session): Promise<T> {
    try {
      return await fn(newer);
    } catch (error) {
      throw isRejection(error) ? rejectedTwice(newer.generation, error, this.#parts) : error;
    }
  }

  /** Almost every call finds a session that nobody is replacing: it need not wait for itself. */
  #enterAtOnce(signal: AbortSignal | undefined): Session | undefined {
    const held = this.#parts.shelf.valid();
    if (held === undefined || signal?.aborted === true || this.#requests.isDoubted(held.generation)) return undefined;
    return this.#gate.enter() ? held : undefined;
  }

  /** Counts the call in the step that finds that calls are not held: between two steps, a hand-over could begin. */
  async #enter(signal: AbortSignal | undefined): Promise<Session> {
    try {
      for (;;) {
        const session = await this.#presentable(signal);
        if (this.#gate.enter()) return session;
        await this.#gate.pass(signal);
      }
    } catch (error) {
      throw notSent(error);
    }
  }

  /** A session that the gateway has just called dead is not presented again: the call waits for the next one. */
  #presentable(signal: AbortSignal | undefined): Promise<Session> {
    const held = this.#parts.shelf.valid();
    const death = held === undefined ? undefined : this.#requests.deathOf(held.generation);
    return death === undefined ? this.session({ signal }) : this.#requests.report(death, signal);
  }

  async #read(signal: AbortSignal | undefined): Promise<Session> {
    try {
      return await this.#requests.read(signal);
    } finally {
      // After the first answer, whose session it can then refer to; even if that was a failure, the next may be better.
      if (!this.#closing.signal.aborted) this.#follower?.follow();
    }
  }

  /** A valid session is better than none, even if it was reported. */
  async #orHeld(wanted: Promise<Session>): Promise<Session> {
    try {
      return await wanted;
    } catch (error) {
      const held = this.#parts.shelf.valid();
      if (held !== undefined && error instanceof BrokerUnavailable) return held;
      throw error;
    }
  }

  async #replacement(
    { generation }: Session,
    cause: SessionRejected,
    signal: AbortSignal | undefined,
  ): Promise<Session> {
    const rejection = { generation, reason: cause.reason };
    try {
      this.#demandOpen(signal);
      const held = this.#parts.shelf.valid();
      if (held !== undefined && held.generation > generation) return held;
      tell(this.#parts.onEvent, { type: 'rejection', ...rejection });
      return await this.#requests.report(rejection, signal);
    } catch (error) {
      throw afterRejection(error, rejection, cause);
    }
  }

  #demandOpen(signal?: AbortSignal): void {
    const { closed } = this.#parts;
    if (closed.aborted) throw reasonOf(closed);
    if (signal?.aborted === true) throw reasonOf(signal);
  }
}

/** Access that the bank has closed is not reported: a newer session would be refused, too. */
function isRejection(error: unknown): error is SessionRejected {
  return error instanceof SessionRejected && error.reason !== REVOKED;
}

/** Turns what kept an answer from being opened, even the caller's own signal, into the error of a payment. */
function unopened(cause: unknown): unknown {
  if (!(cause instanceof SessionBrokerError) || cause instanceof InvalidInput) return cause;
  const { status, retryAfterMs, requestId, brokerCause, message } = cause;
  const says = `The gateway has answered, so that the bank has the request, but its answer was not opened. ${FIND_OUT}`;
  const facts = { status, retryAfterMs, requestId, brokerCause, cause };
  return new AnswerUnopened('answer_unopened', `${says}. ${message}`, facts);
}
