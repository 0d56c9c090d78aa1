import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SessionBrokerOptions } from '../options.js';
import type { Session } from '../session.js';
import {
  NO_STORE,
  bodyOf,
  type FakeAnswer,
  type FakeRequest,
  type FakeRoute,
  problem,
  routeOf,
  write,
} from './fake-answers.js';
import { demandFakeOptions, FakeFailures, type FakeFailure } from './fake-failures.js';
import { FakePayloads } from './fake-payloads.js';
import { FakeSessions, type FakeRejection } from './fake-sessions.js';

/** Options of `FakeBroker.start`. */
export interface FakeBrokerOptions {
  /** `shop` by default. */
  readonly merchant?: string | undefined;
  /** The bearer token that it accepts; `token-of-the-fake` by default. */
  readonly token?: string | undefined;
  /** How long its sessions live, in milliseconds; 15 minutes by default. */
  readonly lifetimeMs?: number | undefined;
}

type Handler = (request: FakeRequest, gone: AbortSignal) => Promise<FakeAnswer> | FakeAnswer;

/**
 * An in-process broker for a service's tests: it speaks HTTP as the real one does, on a free port of 127.0.0.1, so that
 * the service's own client is tested too. It creates a session when it starts, and more when told to.
 */
export class FakeBroker {
  /** Its only merchant. */
  readonly merchant: string;
  /** The bearer token that it accepts. */
  readonly token: string;
  /** Where it listens. */
  readonly url: string;
  readonly #server: Server;
  readonly #sessions: FakeSessions;
  readonly #payloads: FakePayloads;
  readonly #failures = new FakeFailures();
  readonly #requests: FakeRequest[] = [];
  readonly #handlers: Partial<Record<FakeRoute, Handler>>;

  private constructor(server: Server, sessions: FakeSessions, token: string) {
    this.merchant = sessions.merchant;
    this.token = token;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.#server = server;
    this.#sessions = sessions;
    const payloads = new FakePayloads(sessions);
    this.#payloads = payloads;
    this.#handlers = {
      read: ({ headers, path }, gone) => sessions.read({ headers, path }, gone),
      rejections: ({ body }) => sessions.reject(body),
      handovers: () => ({ status: 204, headers: NO_STORE }),
      encrypt: ({ body }) => payloads.encrypt(body),
      decrypt: ({ body }) => payloads.decrypt(body),
      notifications: ({ body }) => payloads.openNotification(body),
      clientKey: () => payloads.clientKeyAnswer(),
    };
    server.on('request', (request, response) => void this.#answer(request, response));
  }

  /**
   * Resolves once it listens and has a session.
   * @throws InvalidInput
   */
  static async start(options: FakeBrokerOptions = {}): Promise<FakeBroker> {
    demandFakeOptions(options);
    const { merchant = 'shop', token = 'token-of-the-fake', lifetimeMs } = options;
    const sessions = await FakeSessions.create(merchant, lifetimeMs);
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    // A test that forgets to close it must be able to end.
    server.unref();
    return new FakeBroker(server, sessions, token);
  }

  /** The options of a `SessionBroker` that talks to this broker. */
  get options(): Pick<SessionBrokerOptions, 'url' | 'merchant'> & { readonly auth: string } {
    return { url: this.url, merchant: this.merchant, auth: this.token };
  }

  /** The session that it serves now; undefined after `endSession()`. */
  get session(): Session | undefined {
    return this.#sessions.current;
  }

  /** How often each route was called, refused calls included. */
  get counts(): Readonly<Record<FakeRoute, number>> {
    const none = { read: 0, events: 0, rejections: 0, handovers: 0, encrypt: 0, decrypt: 0 };
    const counts: Record<FakeRoute, number> = { ...none, notifications: 0, clientKey: 0, other: 0 };
    for (const { route } of this.#requests) counts[route] += 1;
    return counts;
  }

  /** All requests, in order. */
  get requests(): readonly FakeRequest[] {
    return this.#requests;
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

  /**
   * Fails the next requests, of one route or of all.
   * @throws InvalidInput
   */
  fail(failure: FakeFailure): void {
    this.#failures.add(failure);
  }

  /** Forgets all failures that are still to come. */
  recover(): void {
    this.#failures.clear();
  }

  /** Ends the event streams, as a broker does when it is updated. */
  dropStreams(): void {
    this.#sessions.dropStreams();
  }

  /** The content of a JWE that the service sealed to a session, to any if none is given; undefined if it did not. */
  opened(jwe: string, generation?: number): Promise<string | undefined> {
    return this.#payloads.openedByGateway(jwe, generation);
  }

  /** A JWE as the gateway answers it: sealed to the merchant's key, so that the client's `decrypt` opens it. */
  sealedAnswer(content: string | object): Promise<string> {
    return this.#payloads.sealedAnswer(typeof content === 'string' ? content : JSON.stringify(content));
  }

  /** Stops it, and closes its connections. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#sessions.dropStreams();
    this.#server.closeAllConnections();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { route, merchant } = routeOf(message);
    const body = message.method === 'POST' ? await bodyOf(message) : undefined;
    const { method = '', url: path = '', headers } = message;
    const request: FakeRequest = { route, method, path, headers, body };
    this.#requests.push(request);
    const id = `fake-${this.#requests.length}`;
    const failure = this.#failures.next(route);
    if (failure === 'disconnect') return void message.socket.destroy();
    if (failure === 'silence') return;
    const refused = failure ?? this.#refusal(request, merchant);
    if (refused !== undefined) return write(response, refused, id);
    if (route === 'events') return this.#sessions.stream(request.headers, response);
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const handler = this.#handlers[route];
    write(response, (await handler?.(request, gone.signal)) ?? problem(404, 'route_not_found'), id);
  }

  #refusal({ headers, route, method, body }: FakeRequest, merchant: string | undefined): FakeAnswer | undefined {
    if (headers['authorization'] !== `Bearer ${this.token}`) return problem(401, 'unauthenticated');
    if (merchant !== undefined && merchant !== this.merchant) return problem(403, 'forbidden');
    if (route === 'other') return problem(404, 'route_not_found');
    const isJson = typeof body === 'object' && body !== null;
    return method === 'POST' && !isJson
      ? problem(400, 'invalid_request', { detail: 'the body is not JSON' })
      : undefined;
  }
}
