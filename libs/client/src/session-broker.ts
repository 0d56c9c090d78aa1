import { reasonOf } from './deadline.js';
import { Attempts } from './attempts.js';
import { BrokerHttp } from './broker-http.js';
import { CallGate } from './call-gate.js';
import { tell } from './client-event.js';
import {
  afterRejection,
  BrokerUnavailable,
  ClientClosed,
  GatewayRefused,
  InvalidInput,
  notSent,
  placed,
  ProtocolError,
  rejectedTwice,
  type SessionBrokerError,
} from './errors.js';
import { gatewayCall, type GatewayRequest, isText } from './gateway-call.js';
import { isJsonObject, type JsonObject, parsedJson } from './json.js';
import { type OpenedNotification, Opening, type ReceivedNotification } from './opening.js';
import {
  demandKnownOptions,
  demandMinRemaining,
  invalid,
  type SessionBrokerOptions,
  type Settings,
  settingsFrom,
} from './options.js';
import { deadSessionCode, unopened } from './payment-outcome.js';
import { seal } from './sealing.js';
import type { Session } from './session.js';
import { SessionFollower } from './session-follower.js';
import { SessionRequests } from './session-requests.js';
import { SessionShelf } from './session-shelf.js';

/** Options of every call. */
export interface CallOptions {
  /** Ends the call with `CallAborted`, whose cause is the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `session`. */
export interface SessionOptions extends CallOptions {
  /** The lifetime the session should have left, in milliseconds. If it has less, the broker renews it if it can. */
  readonly minRemainingMs?: number | undefined;
}

/** What became of a payment. Not found: the bank has none by now; one that was sent just before may still arrive. */
export type LookedUp = { readonly found: true; readonly operation: JsonObject } | { readonly found: false };

/** As published: the code of an operation that the bank does not have, with its status. */
const NOT_FOUND: Readonly<Record<string, number>> = { b_operation_not_found: 200, payment_operation_not_found: 404 };
const LOOK_UP = '/ecom/execute_request/payments/v1/operation/by_merchant_request_id';

const CALL_OPTIONS: readonly string[] = ['signal'] satisfies (keyof CallOptions)[];
const SESSION_OPTIONS: readonly string[] = ['signal', 'minRemainingMs'] satisfies (keyof SessionOptions)[];
const FETCH_OPTIONS: readonly string[] = ['json', 'sealed', 'signal'] satisfies (keyof GatewayRequest)[];

/** One merchant's session from the broker, held in memory and kept fresh until `close`. */
export class SessionBroker {
  readonly #settings: Settings;
  readonly #closing = new AbortController();
  readonly #attempts: Attempts;
  readonly #shelf: SessionShelf;
  readonly #requests: SessionRequests;
  readonly #follower: SessionFollower | undefined;
  readonly #gate: CallGate;
  readonly #opening: Opening;

  /** @throws InvalidInput */
  constructor(options: SessionBrokerOptions) {
    const settings = settingsFrom(options);
    const { time, onEvent, follow, handover } = settings;
    const closed = this.#closing.signal;
    const shelf = new SessionShelf(time);
    const http = new BrokerHttp(settings);
    const attempts = new Attempts({ ...settings, closed });
    const parts = { ...settings, http, shelf, attempts, closed };
    shelf.onNewer(({ generation, expiresAt }, { source }) => {
      tell(onEvent, { type: 'session', generation, expiresAt, source });
    });
    const gate = new CallGate(parts);
    this.#settings = settings;
    this.#attempts = attempts;
    this.#gate = gate;
    this.#shelf = shelf;
    this.#requests = new SessionRequests(parts);
    this.#opening = new Opening(parts);
    const onHandover = handover ? gate.notice.bind(gate) : undefined;
    this.#follower = follow === 'none' ? undefined : new SessionFollower({ ...parts, onHandover });
  }

  /**
   * The current session, from memory while it is valid, otherwise from the broker. Never one past its expiry.
   * @throws SessionBrokerError; CallAborted when the signal aborts
   */
  session(options?: SessionOptions): Promise<Session> {
    const wantedMs = options?.minRemainingMs ?? this.#settings.minRemainingMs;
    const held = isOrdinary(options) ? this.#shelf.untroubled(wantedMs) : undefined;
    return held === undefined ? this.#consideredSession(wantedMs, options) : held.promise;
  }

  /**
   * The session in memory, if it is valid, without asking the broker. There is one once `session()` has returned one,
   * and from then on as long as the client follows the broker.
   */
  current(): Session | undefined {
    return this.#shelf.valid()?.session;
  }

  /**
   * How long the session in memory is still valid, in milliseconds by this process's monotonic clock; 0 without one.
   * `expiresAt` is of the broker's clock.
   */
  remainingMs(): number {
    const held = this.#shelf.valid();
    return held === undefined ? 0 : this.#shelf.remainingMs(held);
  }

  /**
   * The failure of the last attempt made for the calls that are waiting now or, if none is, for the last ones that
   * waited; undefined if it succeeded or none has ended yet. For a probe that can wait only a moment.
   */
  lastFailure(): SessionBrokerError | undefined {
    return this.#attempts.lastFailure;
  }

  /**
   * Sends one request to the gateway, such as a payment, and gives its answer, opened if it is sealed: `fetch(path,
   * { sealed: refund })`, or `json` for the hosted page. If the gateway refuses the session as dead, sends it once more
   * with a newer one; nothing else is ever repeated.
   * @throws GatewayRefused with the gateway's code; AnswerUnopened if the bank has it; AnswerLost if nobody knows; any
   * other SessionBrokerError if it was not sent or refused with its session
   */
  async fetch(path: string, request: GatewayRequest): Promise<JsonObject> {
    demandKnownOptions(request ?? null, FETCH_OPTIONS);
    const { signal } = request;
    const answer = await this.withSession(gatewayCall(path, request, this.#settings), { signal });
    const { jwe } = answer;
    if (!isText(jwe)) return answer;
    const opened = parsedJson(await this.decryptText(jwe, { signal }));
    return isJsonObject(opened) ? opened : this.#notText('no JSON object');
  }

  /**
   * What became of a payment or refund, also of one whose answer was lost. It says nothing of an unpaid order.
   * @throws as fetch
   */
  async lookUp(merchantRequestId: string, options: CallOptions = {}): Promise<LookedUp> {
    demandKnownOptions(options, CALL_OPTIONS);
    if (!isText(merchantRequestId)) throw invalid('merchantRequestId is missing');
    try {
      return { found: true, operation: await this.fetch(LOOK_UP, { sealed: { merchantRequestId }, ...options }) };
    } catch (error) {
      if (error instanceof GatewayRefused && NOT_FOUND[error.code] === error.status) return { found: false };
      throw error;
    }
  }

  /**
   * For requests that something else sends, such as a merchant SDK: runs `fn` with the session. If `fn` throws because
   * the gateway rejected it, the broker is told, and `fn` runs once more with a newer one, never a third time. Anything
   * sealed to the session has to be sealed again, so do that inside `fn`. While the broker replaces the session, a call
   * waits for the next one before it begins.
   * @throws whatever `fn` throws; SessionRejected, with that as its cause, if the gateway rejected the second session
   * too; SessionBrokerError with a `rejection`, whose cause is what `fn` threw, if there is no newer session
   */
  async withSession<T>(fn: (session: Session) => T | Promise<T>, options: CallOptions = {}): Promise<T> {
    demandKnownOptions(options, CALL_OPTIONS);
    const { signal } = options;
    const session = await this.#enter(signal).catch((error: unknown) => {
      throw notSent(error);
    });
    try {
      return await fn(session);
    } catch (error) {
      const reason = deadSessionCode(error);
      if (reason === undefined) throw error;
      const newer = await this.#replacement(session, { reason, cause: error, signal });
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
  async decrypt(jwe: string, options: CallOptions = {}): Promise<Uint8Array> {
    demandKnownOptions(options, CALL_OPTIONS);
    if (typeof jwe !== 'string') throw new InvalidInput('jwe_invalid', `A JWE is a string, not ${typeof jwe}`);
    try {
      this.#demandOpen();
      return await this.#opening.open(jwe, options.signal);
    } catch (error) {
      throw unopened(error);
    }
  }

  /**
   * `decrypt`, for UTF-8 text.
   * @throws as decrypt; AnswerUnopened, caused by ProtocolError `not_text`, if it is not UTF-8
   */
  async decryptText(jwe: string, options: CallOptions = {}): Promise<string> {
    const octets = await this.decrypt(jwe, options);
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(octets);
    } catch {
      // The decoder can fail in only one way.
      return this.#notText('not UTF-8');
    }
  }

  /**
   * What a notification of the gateway says: the broker opens it if it is sealed, and checks its form.
   * @throws SessionBrokerError (`notification_invalid` and the like as RequestRefused); CallAborted
   */
  async openNotification(received: ReceivedNotification, options: CallOptions = {}): Promise<OpenedNotification> {
    this.#demandOpen();
    demandKnownOptions(options, CALL_OPTIONS);
    return this.#opening.openNotification(received, options.signal);
  }

  /** Ends everything: calls in progress reject with ClientClosed, and nothing keeps the process alive any more. */
  async close(): Promise<void> {
    this.#closing.abort(ClientClosed.at(this.#settings));
    this.#gate.close();
    this.#shelf.clear();
    await this.#follower?.ended();
  }

  /** `await using broker = new SessionBroker(…)` closes it at the end of the block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** What a log may show. */
  [Symbol.for('nodejs.util.inspect.custom')](): object {
    const { brokerUrl, merchant } = this.#settings;
    const generation = this.#shelf.valid()?.session.generation;
    return { url: brokerUrl, merchant, generation, live: this.#follower?.isLive ?? false };
  }

  async #again<T>(fn: (newer: Session) => T | Promise<T>, newer: Session): Promise<T> {
    try {
      return await fn(newer);
    } catch (error) {
      const reason = deadSessionCode(error);
      if (reason === undefined) throw error;
      throw rejectedTwice({ generation: newer.generation, reason }, error, this.#settings);
    }
  }

  /** Counts the call in the step that finds that calls are not held: between two steps, a hand-over could begin. */
  async #enter(signal: AbortSignal | undefined): Promise<Session> {
    for (;;) {
      const session = await this.#presentable(signal);
      if (this.#gate.enter()) return session;
      await this.#gate.pass(signal);
    }
  }

  /** A session that the gateway has just called dead is not presented again: the call waits for the next one. */
  #presentable(signal: AbortSignal | undefined): Promise<Session> {
    const held = this.#shelf.valid()?.session;
    const death = held === undefined ? undefined : this.#requests.deathOf(held.generation);
    return death === undefined ? this.session({ signal }) : this.#requests.report(death, signal);
  }

  async #consideredSession(wantedMs: number, options: SessionOptions | undefined): Promise<Session> {
    this.#demandOpen();
    demandKnownOptions(options, SESSION_OPTIONS);
    const signal = options?.signal;
    demandNotAborted(signal);
    demandMinRemaining(wantedMs);
    const held = this.#shelf.valid();
    const replacing = held === undefined ? undefined : this.#requests.underway(held.session.generation, signal);
    if (replacing !== undefined) return this.#orHeld(replacing);
    if (held === undefined || this.#shelf.remainingMs(held) < wantedMs) return this.#read(wantedMs, signal);
    if (this.#follower?.isLive !== true && this.#shelf.isOverdue(held)) this.#requests.refresh();
    return held.session;
  }

  async #read(wantedMs: number, signal: AbortSignal | undefined): Promise<Session> {
    try {
      return await this.#orHeld(this.#requests.read(wantedMs, signal));
    } finally {
      // After the first answer, whose session it can then refer to; even if that was a failure, the next may be better.
      if (!this.#closing.signal.aborted) this.#follower?.follow();
    }
  }

  /** A valid session is better than none, even if it was reported or has less time left than wanted. */
  async #orHeld(wanted: Promise<Session>): Promise<Session> {
    try {
      return await wanted;
    } catch (error) {
      const held = this.#shelf.valid();
      if (held !== undefined && error instanceof BrokerUnavailable) return held.session;
      throw error;
    }
  }

  async #replacement(
    rejected: Session,
    { reason, cause, signal }: { reason: string; cause: unknown; signal: AbortSignal | undefined },
  ): Promise<Session> {
    const rejection = { generation: rejected.generation, reason };
    try {
      this.#demandOpen();
      demandNotAborted(signal);
      const held = this.#shelf.valid();
      if (held !== undefined && held.session.generation > rejected.generation) return held.session;
      tell(this.#settings.onEvent, { type: 'rejection', ...rejection });
      return await this.#requests.report(rejection, signal);
    } catch (error) {
      throw afterRejection(error, rejection, cause);
    }
  }

  #notText(what: string): never {
    throw unopened(placed(new ProtocolError('not_text', `What the JWE holds is ${what}`), this.#settings));
  }

  #demandOpen(): void {
    if (this.#closing.signal.aborted) throw reasonOf(this.#closing.signal);
  }
}

/** Whether a session in memory can answer the call without a closer look. */
function isOrdinary(options: SessionOptions | undefined): boolean {
  if (options === undefined) return true;
  if (typeof options !== 'object' || options === null) return false;
  return options.signal?.aborted !== true && Object.keys(options).every((name) => SESSION_OPTIONS.includes(name));
}

function demandNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw reasonOf(signal);
}
