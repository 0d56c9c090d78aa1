import { Alarm, type Clock } from '#libs/clock';
import {
  CallAborted,
  type ClientEvent,
  type Session,
  SessionBroker,
  SessionBrokerError,
  SessionRejected,
} from '#libs/client';
import { BrokerError } from '#libs/errors';
import { importServerKey, prepareSeal, sealJwe } from '#libs/jwe';
import type { Logger } from '#libs/telemetry';
import type { BrokerAccess } from './broker-access.js';
import { BrokerContact } from './broker-contact.js';

interface MerchantSessionParts {
  readonly merchant: string;
  readonly access: BrokerAccess;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with how many requests waited for a hand-over. */
  readonly onHeld: (requests: number) => void;
}

/** What is known about the session that is held, for readiness and metrics. */
export interface HeldFacts {
  readonly merchant: string;
  readonly generation: number | undefined;
  /** By our wall clock, for people. */
  readonly expiresAtMs: number | undefined;
  readonly isLiving: boolean;
  /** Whether newer ones arrive by themselves. */
  readonly isFollowing: boolean;
  /** The code of the broker's refusal; if there is no session, of whatever went wrong last. */
  readonly reason: string | undefined;
}

type Trouble = SessionBrokerError | 'silence';

/** How long a request waits for the broker's first answer, or for a broker that is away. */
const FIRST_LOOK_MS = 2_000;
/** For replacing a dead session, and for opening an answer: longer than a create call takes at most. */
const BROKER_TIMEOUT_MS = 10_000;
const RETRY_AFTER_MS = 1_000;
/** A page in docs/runbooks. */
const RUNBOOK = 'egress-without-session';

/** One merchant's session as payments need it: there at once, or refused at once. */
export class MerchantSession {
  readonly #parts: MerchantSessionParts;
  readonly #broker: SessionBroker;
  /** The newest session so far. */
  #held: { readonly generation: number; readonly expiresAtMs: number } | undefined;
  /** Fires when the session that is held ends. */
  readonly #end: Alarm;
  /** A query to the broker that no one waits for. */
  #looking: Promise<void> | undefined;
  /** A report in progress. */
  #reporting: Promise<void> | undefined;
  readonly #contact: BrokerContact;
  #accepted = { generation: 0, requests: 0 };
  /** Why there was no session when the broker was last asked; cleared by the next session. */
  #trouble: Trouble | undefined;

  constructor(parts: MerchantSessionParts) {
    this.#parts = parts;
    this.#contact = new BrokerContact(parts);
    this.#end = new Alarm(parts.clock, () => this.#ended());
    this.#broker = new SessionBroker({
      ...parts.access,
      merchant: parts.merchant,
      time: parts.clock,
      timeoutMs: BROKER_TIMEOUT_MS,
      onEvent: (event) => this.#note(event),
    });
  }

  get facts(): HeldFacts {
    const { merchant } = this.#parts;
    const { generation, expiresAtMs } = this.#held ?? {};
    const isLiving = this.#isHeld;
    const { isFollowing, refusal, lastFailure } = this.#contact;
    const trouble = this.#trouble === 'silence' ? undefined : this.#trouble;
    const failure = isLiving ? undefined : (trouble ?? lastFailure)?.code;
    return { merchant, generation, expiresAtMs, isLiving, isFollowing, reason: refusal ?? failure };
  }

  /** Requests the first session; from then on, newer ones arrive by themselves. */
  start(): void {
    this.#look();
  }

  /** Resolves when the first session has arrived, or it is known why not. */
  async settled(): Promise<void> {
    await this.#looking;
  }

  /**
   * Runs `send` with the session, and once more with a newer one if it throws `SessionRejected`. Waits for a hand-over.
   * @throws BrokerError `session_unavailable`; the reason of `gone`; whatever `send` throws
   */
  use<T>(send: (session: Session) => Promise<T>, gone: AbortSignal): Promise<T> {
    return this.#reporting === undefined && this.#isHeld ? this.#run(send, gone) : this.#useSoon(send, gone);
  }

  async #useSoon<T>(send: (session: Session) => Promise<T>, gone: AbortSignal): Promise<T> {
    if (this.#reporting !== undefined) await this.#reporting;
    if (this.#isHeld) return this.#run(send, gone);
    if (this.#trouble === undefined && !this.#contact.isInterrupted) return this.#runSoon(send, gone);
    this.#look();
    throw this.#unavailable(this.#trouble ?? this.#silence());
  }

  /** How many requests with this session the gateway has accepted. */
  acceptedWith(generation: number): number {
    return this.#accepted.generation === generation ? this.#accepted.requests : 0;
  }

  accepted(generation: number): void {
    this.#accepted = { generation, requests: this.acceptedWith(generation) + 1 };
  }

  /**
   * Has a session replaced that the gateway no longer accepts. Only the next requests wait for it; they then get a
   * newer session, or the current one. Failures are reported by whichever request finds no session.
   */
  report(generation: number, reason: string): void {
    const { clock } = this.#parts;
    const given = new AbortController();
    // A broker that is away cannot replace anything, and the session may still be accepted: a bare 401 says little.
    const timer = clock.schedule(FIRST_LOOK_MS, () =>
      this.#contact.isInterrupted ? given.abort(unreported()) : undefined,
    );
    const replaced = this.#run((session) => {
      if (session.generation === generation) throw new SessionRejected(reason);
      return Promise.resolve();
    }, given.signal);
    const done = (): void => {
      timer.cancel();
      if (this.#reporting === reporting) this.#reporting = undefined;
    };
    const reporting = replaced.then(done, done);
    this.#reporting = reporting;
  }

  /** @returns a compact JWE to the key of this very session */
  async seal(session: Session, plaintext: Uint8Array): Promise<string> {
    return sealJwe(plaintext, await importServerKey(session.serverPublic));
  }

  /**
   * Makes ready what the next payment needs in order to be sealed, once one is over. Unlike with the client package, a
   * payment then waits for no elliptic-curve operation. Never rejects.
   */
  async prepareSeal(): Promise<void> {
    const session = this.#broker.current();
    // A key that cannot be used is reported to whoever seals with it.
    await (session && importServerKey(session.serverPublic).then(prepareSeal, () => undefined));
  }

  /** @throws BrokerError `answer_unopened` */
  async open(jwe: string): Promise<Uint8Array> {
    try {
      return await this.#broker.decrypt(jwe);
    } catch (error) {
      if (!(error instanceof SessionBrokerError)) throw error;
      const { code } = error.cause instanceof SessionBrokerError ? error.cause : error;
      throw new BrokerError('answer_unopened', { detail: `the broker did not open it (${code})` });
    }
  }

  close(): Promise<void> {
    this.#end.close();
    return this.#broker.close();
  }

  get #isHeld(): boolean {
    return this.#broker.current() !== undefined;
  }

  async #run<T>(send: (session: Session) => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      // What `send` throws is classified there, against the closed list of codes: nothing else is a rejection.
      return await this.#broker.withSession(send, { signal });
    } catch (error) {
      if (error instanceof CallAborted) throw signal?.reason;
      if (!(error instanceof SessionBrokerError)) throw error;
      this.#troubled(error);
      throw this.#unavailable(error);
    }
  }

  /** The first request after the start may precede the first session: it waits, but not for long. */
  async #runSoon<T>(send: (session: Session) => Promise<T>, gone: AbortSignal): Promise<T> {
    const silence = new AbortController();
    const timer = this.#parts.clock.schedule(FIRST_LOOK_MS, () =>
      silence.abort(new BrokerError('session_unavailable')),
    );
    const first = (session: Session): Promise<T> => {
      timer.cancel();
      return send(session);
    };
    try {
      return await this.#run(first, AbortSignal.any([gone, silence.signal]));
    } catch (error) {
      if (error !== silence.signal.reason) throw error;
      const trouble = this.#silence();
      this.#troubled(trouble);
      throw this.#unavailable(trouble);
    } finally {
      timer.cancel();
    }
  }

  #look(): void {
    const done = (): void => void (this.#looking = undefined);
    const found = ({ generation }: Session): void => {
      done();
      // If the broker was only out of reach, the client has had this session all along and emits no event.
      this.#hold(generation);
    };
    this.#looking ??= this.#broker.session().then(found, (error: unknown) => {
      done();
      this.#troubled(error);
    });
  }

  #hold(generation: number): void {
    this.#held = { generation, expiresAtMs: this.#parts.clock.now() + this.#broker.remainingMs() };
    this.#awaitEnd();
    if (this.#trouble === undefined) return;
    this.#trouble = undefined;
    const { merchant, logger } = this.#parts;
    logger.info({ merchant, generation }, 'there is a session: payments of this merchant are sent');
  }

  #awaitEnd(): void {
    this.#end.cancel();
    this.#end.in(this.#broker.remainingMs());
  }

  /** Even if no one is paying, the log must say that payments would be refused. */
  #ended(): void {
    // The broker has said since that more is left of it.
    if (this.#isHeld) return this.#awaitEnd();
    const { isInterrupted, lastFailure } = this.#contact;
    if (isInterrupted && lastFailure !== undefined) this.#troubled(lastFailure);
    else this.#look();
  }

  #note(event: ClientEvent): void {
    this.#contact.note(event);
    if (event.type === 'session') this.#hold(event.generation);
    if (event.type === 'resumed' && event.held > 0) this.#parts.onHeld(event.held);
  }

  /** A missing answer is explained by what went wrong before, if the client reported anything. */
  #silence(): Trouble {
    return this.#contact.lastFailure ?? 'silence';
  }

  /** Logged once for each state, not for each request that runs into it. */
  #troubled(error: unknown): void {
    const trouble = error instanceof SessionBrokerError ? error : 'silence';
    if (this.#isHeld) return;
    if (this.#trouble === undefined || stateOf(this.#trouble) !== stateOf(trouble)) {
      const { merchant, logger } = this.#parts;
      const detail = trouble === 'silence' ? 'the broker gave none in time' : trouble.message;
      logger.error(
        { merchant, code: codeOf(trouble), detail, runbook: RUNBOOK },
        'there is no session: payments of this merchant are refused',
      );
    }
    this.#trouble = trouble;
  }

  #unavailable(trouble: Trouble): BrokerError {
    const retryAfterMs = trouble === 'silence' ? RETRY_AFTER_MS : (trouble.retryAfterMs ?? RETRY_AFTER_MS);
    const detail = `merchant ${this.#parts.merchant}: the broker gives no session (${codeOf(trouble)})`;
    // Anyone who may send payments of the merchant may know why they are blocked.
    const publicCause = trouble === 'silence' ? undefined : trouble.brokerCause;
    return new BrokerError('session_unavailable', { detail, retryAfterMs, publicCause });
  }
}

function unreported(): BrokerError {
  return new BrokerError('session_unavailable', { detail: 'the broker was not told in time' });
}

function codeOf(trouble: Trouble): string {
  return trouble === 'silence' ? 'no_answer' : trouble.code;
}

/** A broker that is away may refuse one connection and let the next time out: that is one state. */
function stateOf(trouble: Trouble): string {
  const code = codeOf(trouble);
  return code === 'timeout' ? 'network' : code;
}
