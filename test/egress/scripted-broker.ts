import type { Fetch, FetchAnswer, FetchInit } from '#libs/client';

/** A point on P-384 whose private part was not kept. */
const SERVER_PUBLIC = {
  kty: 'EC',
  crv: 'P-384',
  x: '--mRoBKIOvX64XX0l-CPpVCAapwyNZ6VzsBdD5R2dLkFgVtqqvnNB-KWwHtG_22e',
  y: 'PFQGZA48J5kQ9m7rzTZk405DaS4Xd3yhGv8RWnS1bNef48dG3HoFyM_4Ln7rY5wK',
} as const;

/** A session of fifteen minutes, as the broker writes it when it is so old. */
export function aDocument(generation: number, createdAtMs: number, ageMs = 0): Record<string, unknown> {
  const at = (ms: number): string => new Date(createdAtMs + ms).toISOString();
  return {
    ...{ merchant: 'shop', generation, deviceId: `device-${generation}`, refreshToken: `refresh-${generation}` },
    ...{ authToken: `token-${generation}`, serverPublic: SERVER_PUBLIC, clientKeyThumbprint: 'thumbprint' },
    ...{ createdAt: at(0), renewAt: at(720_000), expiresAt: at(900_000) },
    ...{ renewInMs: Math.max(0, 720_000 - ageMs), expiresInMs: Math.max(0, 900_000 - ageMs) },
  };
}

export function json(body: unknown): Response {
  return Response.json(body);
}

export function problem(status: number, code: string, more: object = {}): Response {
  const headers = { 'content-type': 'application/problem+json' };
  const document = { type: `urn:session-broker:problem:${code}`, title: 'A title', status, code, ...more };
  return new Response(JSON.stringify(document), { status, headers });
}

/** An event stream controlled by the test. */
export class EventFeed {
  readonly response: Response;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor() {
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (this.#controller = controller) });
    this.response = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }

  send(event: 'session' | 'handover', data: object): void {
    this.#controller?.enqueue(new TextEncoder().encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
  }

  end(): void {
    this.#controller?.close();
  }

  cut(): void {
    this.#controller?.error(new TypeError('terminated'));
  }
}

const routes = { events: 'events', rejections: 'rejections', handovers: 'handovers', decrypt: 'decrypt' } as const;
type Route = keyof typeof routes | 'session';
type Answer = () => FetchAnswer | Promise<FetchAnswer>;

/**
 * A broker that answers as the test says, without a network and on any clock: a route that was not scripted never
 * answers.
 */
export class ScriptedBroker {
  readonly feeds: EventFeed[] = [];
  readonly #answers = new Map<Route, Answer>();
  readonly #seen: { readonly route: Route; readonly init: FetchInit }[] = [];

  constructor() {
    this.on('events', () => {
      const feed = new EventFeed();
      this.feeds.push(feed);
      return feed.response;
    });
  }

  readonly fetch: Fetch = async (url, init) => {
    const [last = ''] = new URL(url).pathname.split('/').slice(-1);
    const route = Object.hasOwn(routes, last) ? routes[last as keyof typeof routes] : 'session';
    this.#seen.push({ route, init });
    return (this.#answers.get(route) ?? never)();
  };

  on(route: Route, answer: Answer): void {
    this.#answers.set(route, answer);
  }

  /** From now on no request gets through, and all streams are cut. */
  goesAway(): void {
    for (const route of [...Object.values(routes), 'session'] as const) {
      this.on(route, () => Promise.reject(new TypeError('fetch failed')));
    }
    for (const feed of this.feeds) feed.cut();
  }

  bodiesOf(wanted: Route): unknown[] {
    return this.#seen.flatMap(({ route, init }) =>
      route === wanted ? [JSON.parse(String(init.body)) as unknown] : [],
    );
  }
}

function never(): Promise<FetchAnswer> {
  return new Promise(() => undefined);
}
