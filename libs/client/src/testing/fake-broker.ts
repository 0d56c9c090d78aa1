import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { SessionBrokerOptions } from '../options.js';
import type { Session } from '../session.js';
import {
  type FakeAnswer,
  type FakeRequest,
  type FakeRoute,
  invalid,
  NOTHING,
  problem,
  requestOf,
  write,
} from './fake-answers.js';
import { decrypted, openedNotification } from './fake-payloads.js';
import { FakeServer } from './fake-server.js';
import { type FakeRejection, FakeSessions } from './fake-sessions.js';

/** Options of `FakeBroker.start`. */
export interface FakeBrokerOptions {
  /** `shop` by default. */
  readonly merchant?: string | undefined;
  /** The bearer token that it accepts; `token-of-the-fake` by default. */
  readonly token?: string | undefined;
}

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

type Handler = (request: FakeRequest) => Promise<FakeAnswer> | FakeAnswer;

/**
 * An in-process broker for a service's tests: it speaks HTTP as the real one does, on a free port of 127.0.0.1, so that
 * the service's own client is tested too. It creates a session when it starts, and more when told to.
 */
export class FakeBroker extends FakeServer {
  /** Its only merchant. */
  readonly merchant: string;
  /** The bearer token that it accepts. */
  readonly token: string;
  /** All requests, in order, refused ones included. */
  readonly requests: FakeRequest[] = [];
  readonly #sessions: FakeSessions;
  readonly #handlers: Partial<Record<FakeRoute, Handler>>;
  #failures: { readonly failure: FakeFailure; left: number }[] = [];

  private constructor(server: Server, sessions: FakeSessions, token: string) {
    super(server);
    this.merchant = sessions.merchant;
    this.token = token;
    this.#sessions = sessions;
    this.#handlers = {
      read: () => sessions.read(),
      rejections: ({ body }) => sessions.reject(body),
      handovers: () => NOTHING,
      decrypt: ({ body }) => decrypted(sessions.clientKey, body),
      notifications: ({ body }) => openedNotification(sessions.clientKey, body),
    };
  }

  /** Resolves once it listens and has a session. */
  static async start({ merchant = 'shop', token = 'token-of-the-fake' }: FakeBrokerOptions = {}): Promise<FakeBroker> {
    const sessions = await FakeSessions.create(merchant);
    return new FakeBroker(await FakeServer.listening(), sessions, token);
  }

  /** The options of a `SessionBroker` that talks to this broker. */
  get options(): Pick<SessionBrokerOptions, 'url' | 'merchant'> & { readonly auth: string } {
    return { url: this.url, merchant: this.merchant, auth: this.token };
  }

  /** The session that it serves now; undefined after `endSession()`. */
  get session(): Session | undefined {
    return this.#sessions.current;
  }

  /** The rejections that it accepted, in order. */
  get rejections(): readonly FakeRejection[] {
    return this.#sessions.rejections;
  }

  /** Replaces the session, and tells all followers. */
  renew(): Promise<Session> {
    return this.#sessions.renew();
  }

  /** From now on, there is no session to serve (503 `session_unavailable`), until `renew()` or a rejection. */
  endSession(): void {
    this.#sessions.end();
  }

  /** Fails the next requests, of one route or of all. */
  fail(failure: FakeFailure): void {
    this.#failures.push({ failure, left: failure.times ?? 1 });
  }

  /** Forgets all failures that are still to come. */
  recover(): void {
    this.#failures = [];
  }

  /** Ends the event streams, as a broker does when it is updated. */
  dropStreams(): void {
    this.#sessions.dropStreams();
  }

  /** The content of a JWE that the service sealed to a session, to any if none is given; undefined if it did not. */
  opened(jwe: string, generation?: number): Promise<string | undefined> {
    return this.#sessions.opened(jwe, generation);
  }

  /** A JWE as the gateway answers it: sealed to the merchant's key, so that the client's `decrypt` opens it. */
  sealedAnswer(content: string | object): Promise<string> {
    return this.#sessions.clientKey.seal(typeof content === 'string' ? content : JSON.stringify(content));
  }

  protected override async answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { merchant, ...request } = await requestOf(message);
    this.requests.push(request);
    const id = `fake-${this.requests.length}`;
    const failure = this.#nextFailure(request.route);
    if (failure === 'disconnect') return void message.socket.destroy();
    if (failure === 'silence') return;
    const refused = failure ?? this.#refusal(request, merchant);
    if (refused !== undefined) return write(response, refused, id);
    if (request.route === 'events') return this.#sessions.stream(request.headers, response);
    const answer = await this.#handlers[request.route]?.(request);
    write(response, answer ?? problem(404, 'route_not_found'), id);
  }

  /** How this request fails, if it does: in the order in which failures were asked for. */
  #nextFailure(route: FakeRoute): FakeAnswer | 'disconnect' | 'silence' | undefined {
    const found = this.#failures.find(({ failure, left }) => left > 0 && (failure.route ?? route) === route);
    if (found === undefined) return undefined;
    found.left -= 1;
    const how = found.failure.with;
    return typeof how === 'string' ? how : problem(how.status, how.code, how.retryAfterS);
  }

  #refusal({ headers, method, body }: FakeRequest, merchant: string | undefined): FakeAnswer | undefined {
    if (headers['authorization'] !== `Bearer ${this.token}`) return problem(401, 'unauthenticated');
    if (merchant !== undefined && merchant !== this.merchant) return problem(403, 'forbidden');
    const isJson = typeof body === 'object' && body !== null;
    return method === 'POST' && !isJson ? invalid('the body is not JSON') : undefined;
  }
}
