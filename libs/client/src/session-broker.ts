import { orAborted, reasonOf } from './abort.js';
import { Attempts } from './attempts.js';
import { BrokerHttp } from './broker-http.js';
import { CallGate } from './call-gate.js';
import { tell } from './client-event.js';
import { rejectionReason, type RejectionPredicate } from './dead-session.js';
import {
  afterRejection,
  BrokerUnavailable,
  ClientClosed,
  InvalidInput,
  notSent,
  placed,
  ProtocolError,
  rejectedTwice,
  type SessionBrokerError,
} from './errors.js';
import { Notifications, type OpenedNotification, type ReceivedNotification } from './notifications.js';
import { Opening } from './opening.js';
import { demandMinRemaining, type SessionBrokerOptions, type Settings, settingsFrom } from './options.js';
import { demandKnownOptions } from './option-names.js';
import { unopened } from './payment-errors.js';
import { reportReady } from './ready-report.js';
import { Rejections } from './rejections.js';
import { octetsOf, Sealing } from './sealing.js';
import type { Session } from './session.js';
import { SessionFollower } from './session-follower.js';
import { SessionReader } from './session-reader.js';
import { type HeldSession, SessionShelf } from './session-shelf.js';

/** What every call takes. */
export interface CallOptions {
  /** Ends the call with `CallAborted`, whose cause is the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Of `session`. */
export interface SessionOptions extends CallOptions {
  /** What the session should have left, in milliseconds. The broker renews it first if it can. */
  readonly minRemainingMs?: number | undefined;
}

/** Of `withSession`. */
export interface WithSessionOptions extends CallOptions {
  /**
   * Whether an error of the function means that the gateway rejected the session: true, or better the gateway's code.
   * `isDeadSession` by default. `SessionRejected` always does, and access that was revoked never.
   */
  readonly isRejection?: RejectionPredicate | undefined;
}

/** Of `encrypt`. */
export interface EncryptOptions extends CallOptions {
  /** The session that the payload is for, within `withSession`; the current one by default. */
  readonly session?: Session | undefined;
}

/** What `encrypt` gives. */
export interface SealedPayload {
  /** The body of the request, as `text/plain`. */
  readonly jwe: string;
  /** Of the session whose key it was sealed to: send it with that session and no other. */
  readonly generation: number;
}

/** The broker has no part in it, so that it is not named. */
const NO_JWE = "There is no JWE: the gateway's answer was probably an error; look at its msgCode";
const CALL_OPTIONS: readonly string[] = ['signal'] satisfies (keyof CallOptions)[];
const SESSION_OPTIONS: readonly string[] = ['signal', 'minRemainingMs'] satisfies (keyof SessionOptions)[];
const WITH_SESSION_OPTIONS: readonly string[] = ['signal', 'isRejection'] satisfies (keyof WithSessionOptions)[];
const ENCRYPT_OPTIONS: readonly string[] = ['signal', 'session'] satisfies (keyof EncryptOptions)[];

/** One merchant's session, from the broker: in memory, and kept fresh until `close`. */
export class SessionBroker {
  readonly #settings: Settings;
  readonly #closing = new AbortController();
  readonly #attempts: Attempts;
  readonly #shelf: SessionShelf;
  readonly #reader: SessionReader;
  readonly #rejections: Rejections;
  readonly #follower: SessionFollower | undefined;
  readonly #gate: CallGate;
  readonly #opening: Opening;
  readonly #notifications: Notifications;
  readonly #sealing = new Sealing();

  /** @throws InvalidInput */
  constructor(options: SessionBrokerOptions) {
    const settings = settingsFrom(options);
    const { merchant, time, random, timeoutMs, onEvent, follow, handover } = settings;
    const closed = this.#closing.signal;
    const shelf = new SessionShelf(time);
    const http = new BrokerHttp(settings);
    const attempts = new Attempts({ time, random, timeoutMs, closed, onEvent, place: settings });
    const parts = { http, shelf, attempts, time, random, merchant, closed, onEvent, place: settings };
    shelf.onNewer(({ generation, expiresAt }, { source }) => {
      tell(onEvent, { type: 'session', generation, expiresAt, source });
    });
    const gate = new CallGate({ ...parts, timeoutMs, ready: (notice) => reportReady(parts, notice) });
    this.#settings = settings;
    this.#attempts = attempts;
    this.#gate = gate;
    this.#shelf = shelf;
    this.#reader = new SessionReader(parts);
    this.#rejections = new Rejections(parts);
    this.#opening = new Opening(parts);
    this.#notifications = new Notifications(parts);
    const onHandover = handover ? gate.notice.bind(gate) : undefined;
    this.#follower = follow === 'none' ? undefined : new SessionFollower({ ...parts, start: follow, onHandover });
  }

  /**
   * The current session: from memory while it is valid, else from the broker. Never one past its expiry.
   * @throws SessionBrokerError, which is CallAborted when the signal aborts
   */
  session(options?: SessionOptions): Promise<Session> {
    const wantedMs = options?.minRemainingMs ?? this.#settings.minRemainingMs;
    const held = isOrdinary(options) ? this.#shelf.untroubled(wantedMs) : undefined;
    return held === undefined ? this.#consideredSession(wantedMs, options) : held.promise;
  }

  /**
   * The session that is in memory, if there is one that is valid; asks nobody. It is there once `session()` has given
   * one, and from then on as long as the client follows the broker.
   */
  current(): Session | undefined {
    return this.#shelf.valid()?.session;
  }

  /**
   * What the last try has met since the first of the calls that are waiting now, or of the last that waited; undefined
   * when it succeeded, or none has ended yet. For a probe that waits no longer than a moment.
   */
  lastFailure(): SessionBrokerError | undefined {
    return this.#attempts.lastFailure;
  }

  /**
   * Runs `fn` with the session. When `fn` throws because the gateway rejected it, the broker is told, and `fn` runs
   * once more with a newer one, never a third time. Whatever was sealed to the session has to be sealed anew, so do
   * that within `fn`. While the broker replaces the session, a call waits for the next one before it begins.
   * @throws whatever `fn` throws; SessionRejected, whose cause that is, where the gateway rejected the second session, too;
   * SessionBrokerError with a `rejection`, whose cause is what `fn` threw, when there is no newer session
   */
  async withSession<T>(fn: (session: Session) => T | Promise<T>, options: WithSessionOptions = {}): Promise<T> {
    this.#named(() => demandFunction(fn));
    this.#named(() => demandKnownOptions(options, WITH_SESSION_OPTIONS));
    const { signal, isRejection } = options;
    const session = await this.#enter(signal).catch((error: unknown) => raise(notSent(error)));
    try {
      return await fn(session);
    } catch (error) {
      const reason = await rejectionReason({ error, isRejection }, this.#settings.time);
      if (reason === undefined) throw error;
      const newer = await this.#replacement(session, { reason, cause: error, signal });
      return await this.#again(fn, newer, isRejection);
    } finally {
      this.#gate.leave();
    }
  }

  /**
   * Seals a payload to the session's server key, in this process: the broker never sees it.
   * @throws SessionBrokerError, which is CallAborted when the signal aborts
   */
  async encrypt(payload: string | Uint8Array, options: EncryptOptions = {}): Promise<SealedPayload> {
    this.#named(() => demandKnownOptions(options, ENCRYPT_OPTIONS));
    const { signal } = options;
    this.#named(() => octetsOf(payload));
    const session = options.session ?? (await this.session({ signal }));
    const jwe = await this.#seal(session.serverPublic, payload, signal);
    return { jwe, generation: session.generation };
  }

  /**
   * Seals a payload to any public key of the profile (EC, P-384), such as the bank's payment key.
   * @throws InvalidInput, CallAborted
   */
  async encryptFor(jwk: object, payload: string | Uint8Array, options: CallOptions = {}): Promise<string> {
    this.#named(() => demandKnownOptions(options, CALL_OPTIONS));
    return this.#seal(jwk, payload, options.signal);
  }

  /**
   * Opens a JWE that the gateway sealed to the merchant's key, in the broker; tried again until the call's time is up.
   * @throws AnswerUnopened: who has a JWE of the gateway has its answer, so that the bank has the request; its cause is
   * what the broker said (`jwe_not_opened` and the like as RequestRefused), or CallAborted. InvalidInput where there is no
   * JWE
   */
  async decrypt(jwe: string, options: CallOptions = {}): Promise<Uint8Array> {
    this.#named(() => demandKnownOptions(options, CALL_OPTIONS));
    if (jwe === undefined || jwe === null) throw new InvalidInput('jwe_invalid', NO_JWE);
    if (typeof jwe !== 'string') throw placed(new InvalidInput('jwe_invalid', 'A JWE is a string'), this.#settings);
    try {
      this.#demandOpen();
      return await this.#opening.open(jwe, options.signal);
    } catch (error) {
      throw unopened(error);
    }
  }

  /**
   * `decrypt`, for what is UTF-8.
   * @throws as decrypt; AnswerUnopened by ProtocolError `not_text` when it is not
   */
  async decryptText(jwe: string, options: CallOptions = {}): Promise<string> {
    const octets = await this.decrypt(jwe, options);
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(octets);
    } catch {
      // The decoder has one way to fail.
      throw unopened(placed(new ProtocolError('not_text', 'What the JWE holds is not UTF-8'), this.#settings));
    }
  }

  /**
   * What a notification of the gateway says: opened in the broker where it is sealed, and held against the gateway's forms.
   * @throws SessionBrokerError (`notification_invalid` and the like as RequestRefused), which is CallAborted when the signal aborts
   */
  async openNotification(received: ReceivedNotification, options: CallOptions = {}): Promise<OpenedNotification> {
    this.#demandOpen();
    this.#named(() => demandKnownOptions(options, CALL_OPTIONS));
    return this.#notifications.open(received, options.signal);
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

  async #again<T>(
    fn: (session: Session) => T | Promise<T>,
    newer: Session,
    isRejection: RejectionPredicate | undefined,
  ): Promise<T> {
    try {
      return await fn(newer);
    } catch (error) {
      const reason = await rejectionReason({ error, isRejection }, this.#settings.time);
      throw reason === undefined
        ? error
        : rejectedTwice({ generation: newer.generation, reason }, error, this.#settings);
    }
  }

  /** Counts the call in the same step as it finds that none is held: between the two, a hand-over could begin. */
  async #enter(signal: AbortSignal | undefined): Promise<Session> {
    for (;;) {
      const session = await this.session({ signal });
      if (this.#gate.enter()) return session;
      await this.#gate.pass(signal);
    }
  }

  async #consideredSession(wantedMs: number, options: SessionOptions | undefined): Promise<Session> {
    this.#demandOpen();
    this.#named(() => demandKnownOptions(options, SESSION_OPTIONS));
    const signal = options?.signal;
    demandNotAborted(signal);
    this.#named(() => demandMinRemaining(wantedMs));
    const held = this.#shelf.valid();
    const replacing = held === undefined ? undefined : this.#rejections.underway(held.session.generation, signal);
    if (replacing !== undefined) return this.#orHeld(replacing);
    if (held === undefined || this.#shelf.remainingMs(held) < wantedMs) return this.#read(wantedMs, signal);
    this.#refreshIfOverdue(held);
    return held.session;
  }

  async #read(wantedMs: number, signal: AbortSignal | undefined): Promise<Session> {
    try {
      return await this.#orHeld(this.#reader.read(wantedMs, signal));
    } finally {
      // After the first answer, to which it can then refer; whatever that was, the next one may be better.
      if (!this.#closing.signal.aborted) this.#follower?.follow();
    }
  }

  /** A session that is valid is better than none, even if it was reported, or has less left than was wanted. */
  async #orHeld(wanted: Promise<Session>): Promise<Session> {
    try {
      return await wanted;
    } catch (error) {
      const held = this.#shelf.valid();
      if (held !== undefined && error instanceof BrokerUnavailable) return held.session;
      throw error;
    }
  }

  #refreshIfOverdue(held: HeldSession): void {
    if (this.#follower?.isLive !== true && this.#shelf.isOverdue(held)) this.#reader.refresh();
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
      return await this.#rejections.report(rejection, signal);
    } catch (error) {
      throw afterRejection(error, rejection, cause);
    }
  }

  async #seal(recipient: object, payload: string | Uint8Array, signal: AbortSignal | undefined): Promise<string> {
    const sealing = this.#sealing.seal(recipient, payload);
    return orAborted(sealing, signal).catch((error: unknown) => this.#named(() => raise(error)));
  }

  /** What is wrong with the input of a call is told with whose call it was. */
  #named<T>(check: () => T): T {
    try {
      return check();
    } catch (error) {
      throw error instanceof InvalidInput ? placed(error, this.#settings) : error;
    }
  }

  #demandOpen(): void {
    if (this.#closing.signal.aborted) throw reasonOf(this.#closing.signal);
  }
}

/** One that a session in memory can answer without a closer look. */
function isOrdinary(options: SessionOptions | undefined): boolean {
  if (options === undefined) return true;
  if (typeof options !== 'object' || options === null) return false;
  return options.signal?.aborted !== true && Object.keys(options).every((name) => SESSION_OPTIONS.includes(name));
}

function demandNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw reasonOf(signal);
}

function demandFunction(fn: unknown): void {
  if (typeof fn === 'function') return;
  throw new InvalidInput('function_missing', 'withSession takes a function that is given the session');
}

function raise(error: unknown): never {
  throw error;
}
