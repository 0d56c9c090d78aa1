import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Session } from '../session.js';
import { systemTime } from '../time.js';
import { type FakeAnswer, type FakeRequest, invalid, unavailable } from './fake-answers.js';
import { FakeKey } from './fake-keys.js';
import { aSession } from './fixtures.js';

/** A rejection that the fake broker accepted. */
export interface FakeRejection {
  readonly generation: number;
  readonly reason: string;
}

/** The sessions of the fake broker, and who follows them. */
export class FakeSessions {
  readonly rejections: FakeRejection[] = [];
  /** The keys of all sessions so far, by generation: what is sealed to an older one is told from what is not sealed. */
  readonly #serverKeys: FakeKey[] = [];
  readonly #streams = new Set<ServerResponse>();
  #current: Session | undefined;
  /** Of the current session, by the monotonic clock. */
  #createdAtMs = 0;
  #generation = 0;
  #renewal: Promise<Session> | undefined;

  private constructor(
    readonly merchant: string,
    readonly clientKey: FakeKey,
  ) {}

  static async create(merchant: string): Promise<FakeSessions> {
    const sessions = new FakeSessions(merchant, await FakeKey.generate());
    await sessions.renew();
    return sessions;
  }

  get current(): Session | undefined {
    const session = this.#current;
    return session !== undefined && this.#left(session).expiresInMs > 0 ? session : undefined;
  }

  end(): void {
    this.#current = undefined;
  }

  /** One at a time: callers that ask meanwhile get the same session. */
  renew(): Promise<Session> {
    this.#renewal ??= this.#create().finally(() => (this.#renewal = undefined));
    return this.#renewal;
  }

  read(): FakeAnswer {
    const session = this.current;
    return session === undefined ? unavailable() : this.#answerWith(session);
  }

  async reject(body: unknown): Promise<FakeAnswer> {
    const { generation, reason } = body as Partial<FakeRejection>;
    if (typeof generation !== 'number' || !Number.isSafeInteger(generation) || generation < 1) {
      return invalid('generation: must be a positive integer');
    }
    this.rejections.push({ generation, reason: typeof reason === 'string' ? reason : 'unspecified' });
    const held = this.current;
    // One that it never issued comes from before it began again: what it has is its newest.
    const isKept = held !== undefined && (held.generation > generation || generation > this.#generation);
    return this.#answerWith(isKept ? held : await this.renew(), 'no-store');
  }

  stream(headers: IncomingHttpHeaders | FakeRequest['headers'], response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' });
    response.write('retry: 2000\n\n');
    this.#streams.add(response);
    response.on('close', () => void this.#streams.delete(response));
    const session = this.current;
    const isKnown = headers['last-event-id'] === String(session?.generation);
    response.write(session === undefined || isKnown ? ':\n\n' : this.#frameOf(session));
  }

  dropStreams(): void {
    for (const stream of this.#streams) stream.end();
  }

  async opened(jwe: string, generation?: number): Promise<string | undefined> {
    const all = this.#serverKeys;
    for (const key of generation === undefined ? all : all.slice(generation - 1, generation)) {
      const octets = await key.open(jwe);
      if (octets !== undefined) return octets.toString();
    }
    return undefined;
  }

  async #create(): Promise<Session> {
    const key = await FakeKey.generate();
    const wish = { merchant: this.merchant, generation: this.#generation + 1, serverPublic: key.publicJwk };
    const session = aSession({ ...wish, clientKeyThumbprint: this.clientKey.thumbprint });
    this.#serverKeys.push(key);
    this.#generation = session.generation;
    this.#current = session;
    this.#createdAtMs = systemTime.monotonicMs();
    for (const stream of this.#streams) stream.write(this.#frameOf(session));
    return session;
  }

  #left({ createdAt, expiresAt, renewAt }: Session): { readonly expiresInMs: number; readonly renewInMs: number } {
    const ageMs = systemTime.monotonicMs() - this.#createdAtMs;
    const [expiresInMs = 0, renewInMs = 0] = [expiresAt, renewAt].map((moment) =>
      Math.max(0, Math.floor(Date.parse(moment) - Date.parse(createdAt) - ageMs)),
    );
    return { expiresInMs, renewInMs };
  }

  #frameOf(session: Session): string {
    const document = { ...session, ...this.#left(session) };
    return `event: session\nid: ${session.generation}\ndata: ${JSON.stringify(document)}\n\n`;
  }

  #answerWith(session: Session, cacheControl?: string): FakeAnswer {
    const left = this.#left(session);
    const headers = {
      etag: `"${session.generation}"`,
      'cache-control': cacheControl ?? `private, max-age=${Math.floor(left.renewInMs / 1_000)}`,
    };
    return { status: 200, headers, document: { ...session, ...left } };
  }
}
