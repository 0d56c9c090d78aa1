import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { aSessionDocument, LASTING_SESSION_MS, LoopbackServer } from '#libs/testing';
import { openCompact } from '../../apps/sandbox/src/crypto/compact-jwe.js';
import { generateKeyPair, type KeyPair } from '../../apps/sandbox/src/crypto/ec-key.js';

/** A session with the half of its key that only the gateway has. */
export interface PlayedSession {
  readonly merchant: string;
  readonly generation: number;
  readonly authToken: string;
  readonly deviceId: string;
  readonly refreshToken: string;
  readonly serverKey: KeyPair;
}

export interface Rejection {
  readonly merchant: string;
  readonly generation: number;
  readonly reason: string;
}

interface Played {
  readonly path: string;
  readonly merchant: string;
  readonly body: string;
}

/**
 * A broker without a gateway and without a budget: each report of a dead session creates the next one at once. For
 * tests that kill hundreds of sessions, which a real broker would rightly not put up with.
 */
export class PlayedBroker {
  readonly token = `token-for-the-played-broker-${randomUUID()}`;
  /** The merchant's own key, for answers. */
  readonly merchantKey: KeyPair = generateKeyPair();
  readonly rejections: Rejection[] = [];
  /** If `silent`, every connection is dropped. */
  serves: 'sessions' | 'silent' = 'sessions';
  /** If false, no newer session comes for a rejected one. */
  replaces = true;
  /** If false, opening fails as it does while the broker cannot be reached. */
  opens = true;
  readonly #sessions: PlayedSession[] = [];
  readonly #streams = new Set<{ readonly merchant: string; readonly response: ServerResponse }>();
  #server: LoopbackServer | undefined;

  static async start(): Promise<PlayedBroker> {
    const broker = new PlayedBroker();
    broker.#server = await LoopbackServer.http((request, response) => {
      broker.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
    return broker;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server?.port}`;
  }

  get sessions(): readonly PlayedSession[] {
    return this.#sessions;
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  /** The session that a device id belongs to. */
  sessionOf(deviceId: string): PlayedSession | undefined {
    return this.#sessions.find((session) => session.deviceId === deviceId);
  }

  /** Creates the next session and tells all followers, as a planned renewal does. */
  renew(merchant = 'shop'): PlayedSession {
    const generation = (this.#newest(merchant)?.generation ?? 0) + 1;
    const parts = { authToken: randomUUID(), deviceId: randomUUID(), refreshToken: randomUUID() };
    const session = { merchant, generation, ...parts, serverKey: generateKeyPair() };
    this.#sessions.push(session);
    for (const stream of this.#streams)
      if (stream.merchant === merchant) this.#send(stream.response, this.#document(session));
    return session;
  }

  /** The merchants that are followed, each once per follower. */
  get followed(): readonly string[] {
    return [...this.#streams].map(({ merchant }) => merchant);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, merchant = '', path = ''] = /^\/v1\/merchants\/([^/]+)(\/[^?]*)/.exec(request.url ?? '') ?? [];
    const body = await text(request);
    if (this.serves === 'silent') return void request.socket.destroy();
    if (request.headers.authorization !== `Bearer ${this.token}`)
      return this.#problem(response, 401, 'unauthenticated');
    if (path === '/session/events') return this.#stream(request, { merchant, response });
    if (path === '/payloads/decrypt') return this.#decrypt(response, body);
    this.#session(response, { path, merchant, body });
  }

  #session(response: ServerResponse, { path, merchant, body }: Played): void {
    if (path === '/session') return this.#json(response, this.#document(this.#current(merchant)));
    if (path !== '/session/rejections') return this.#problem(response, 404, 'route_not_found');
    const { generation, reason } = JSON.parse(body) as { generation: number; reason: string };
    this.rejections.push({ merchant, generation, reason });
    if (!this.replaces) return this.#problem(response, 503, 'overloaded');
    const current = this.#current(merchant);
    this.#json(response, this.#document(current.generation > generation ? current : this.renew(merchant)));
  }

  #stream(request: IncomingMessage, stream: { readonly merchant: string; readonly response: ServerResponse }): void {
    const { merchant, response } = stream;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': here\n\n');
    this.#streams.add(stream);
    request.socket.once('close', () => this.#streams.delete(stream));
    const current = this.#current(merchant);
    this.#send(response, this.#document(current));
  }

  #decrypt(response: ServerResponse, body: string): void {
    if (!this.opens) return this.#problem(response, 503, 'overloaded');
    const { jwe } = JSON.parse(body) as { jwe: string };
    const plaintext = this.#open(jwe);
    if (plaintext === undefined) return this.#problem(response, 422, 'jwe_not_opened');
    this.#json(response, { plaintext, encoding: 'utf-8' });
  }

  #open(jwe: string): string | undefined {
    try {
      return openCompact(jwe, this.merchantKey).toString('utf8');
    } catch {
      return undefined;
    }
  }

  #newest(merchant: string): PlayedSession | undefined {
    return this.#sessions.findLast((session) => session.merchant === merchant);
  }

  #current(merchant: string): PlayedSession {
    return this.#newest(merchant) ?? this.renew(merchant);
  }

  #document({ serverKey, ...session }: PlayedSession): object {
    const { generation } = session;
    const document = aSessionDocument({ generation, lifetimeMs: LASTING_SESSION_MS });
    return { ...document, ...session, serverPublic: serverKey.jwk };
  }

  #send(response: ServerResponse, session: object): void {
    response.write(`event: session\ndata: ${JSON.stringify(session)}\n\n`);
  }

  #json(response: ServerResponse, body: object): void {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  #problem(response: ServerResponse, status: number, code: string): void {
    // Longer than a caller would wait: it is not waited for.
    const wait = status === 503 ? { 'retry-after': '60' } : {};
    response.writeHead(status, { 'content-type': 'application/problem+json', ...wait });
    response.end(JSON.stringify({ type: `urn:x:${code}`, title: 'A title', status, code }));
  }
}
