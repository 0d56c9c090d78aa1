import { aServerPublicKey } from './builders.js';

interface DocumentWish {
  readonly generation?: number;
  readonly lifetimeMs?: number;
  /** How old it is when the broker answers. */
  readonly ageMs?: number;
  readonly createdAtMs?: number;
}

/** A session as the broker writes it over HTTP: it lasts fifteen minutes and is renewed after four fifths. */
export function aSessionDocument(wish: DocumentWish = {}): Record<string, unknown> {
  const { generation = 1, lifetimeMs = 900_000, ageMs = 0, createdAtMs = Date.now() } = wish;
  const at = (ms: number): string => new Date(createdAtMs + ms).toISOString();
  const leftMs = (ms: number): number => Math.max(0, ms - ageMs);
  return {
    ...{ merchant: 'shop', generation, authToken: `auth-token-${generation}`, deviceId: `device-id-${generation}` },
    ...{ refreshToken: `refresh-token-${generation}`, serverPublic: aServerPublicKey() },
    clientKeyThumbprint: 'thumbprint',
    ...{ createdAt: at(0), expiresAt: at(lifetimeMs), renewAt: at(lifetimeMs * 0.8) },
    ...{ expiresInMs: leftMs(lifetimeMs), renewInMs: leftMs(lifetimeMs * 0.8) },
  };
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  const type = `application/${status >= 400 ? 'problem+' : ''}json; charset=utf-8`;
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': type, ...headers } });
}

export function problem(status: number, code: string, headers: Record<string, string> = {}): Response {
  return json({ type: `urn:session-broker:problem:${code}`, title: 'A title', status, code }, status, headers);
}

/** What fetch does where nothing listens. */
export const away = (): Promise<never> =>
  Promise.reject(
    new TypeError('fetch failed', { cause: Object.assign(new Error('canary'), { code: 'ECONNREFUSED' }) }),
  );

/** The event stream of one answer, driven by the test. */
export class EventFeed {
  readonly response: Response;
  wasCancelled = false;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor() {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#controller = controller),
      cancel: () => void (this.wasCancelled = true),
    });
    this.response = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }

  send(text: string): void {
    this.#controller?.enqueue(new TextEncoder().encode(text));
  }

  session(document: Record<string, unknown>): void {
    this.send(`event: session\nid: ${String(document['generation'])}\ndata: ${JSON.stringify(document)}\n\n`);
  }

  handover(notice: Record<string, unknown>): void {
    this.send(`event: handover\ndata: ${JSON.stringify(notice)}\n\n`);
  }

  end(): void {
    this.#controller?.close();
  }

  cut(): void {
    this.#controller?.error(new TypeError('terminated'));
  }
}

const ROUTES = {
  '/session/events': 'events',
  '/session/rejections': 'rejections',
  '/session/handovers': 'handovers',
  '/payloads/decrypt': 'decrypt',
  '/notifications/open': 'notification',
} as const;
type Route = (typeof ROUTES)[keyof typeof ROUTES] | 'read';

/** What a client gives to `fetch`. */
interface Sent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}
interface ScriptedRequest extends Sent {
  readonly url: string;
  readonly route: Route;
}
type Answer = (request: ScriptedRequest) => Response | Promise<Response>;

/** A broker that answers as the test scripts it, without a network. A route that is not scripted never answers. */
export class ScriptedBroker {
  readonly requests: ScriptedRequest[] = [];
  readonly #answers = new Map<Route, Answer>();

  readonly fetch = async (url: string, init: Sent): Promise<Response> => {
    const path = new URL(url).pathname.replace(/^.*\/merchants\/[^/]+/, '');
    const request = { ...init, url, route: (ROUTES as Readonly<Record<string, Route>>)[path] ?? 'read' };
    this.requests.push(request);
    return this.#answers.get(request.route)?.(request) ?? new Promise<Response>(() => undefined);
  };

  on(route: Route, answer: Answer): this {
    this.#answers.set(route, answer);
    return this;
  }

  /** One feed for each time the event stream is opened. */
  streaming(): EventFeed[] {
    const feeds: EventFeed[] = [];
    this.on('events', () => {
      const feed = new EventFeed();
      feeds.push(feed);
      return feed.response;
    });
    return feeds;
  }

  seen(route: Route): ScriptedRequest[] {
    return this.requests.filter((request) => request.route === route);
  }
}
