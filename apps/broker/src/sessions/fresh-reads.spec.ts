import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServedSession, SessionReplica } from '#libs/session';
import { aSession } from '#libs/testing';
import type { Caller } from '../auth/caller.js';
import { freshReads } from './fresh-reads.js';
import type { SessionReads } from './session-reads.js';

const PATH = '/v1/merchants/shop/session';
const LIVING = aSession({
  merchant: 'shop',
  generation: 7,
  refreshToken: '56587302-e3c6-49eb-a62c-97f2287e3005',
});
const ALLOWED: Caller = { name: 'checkout' };

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** @param lines names and values alternating */
function headersIn(lines: readonly string[]): Answer['headers'] {
  const names = lines.filter((_, index) => index % 2 === 0);
  return Object.fromEntries(names.map((name, index) => [name, lines[2 * index + 1] ?? '']));
}

/** What the parts around a read return; by default, `checkout` may read the live session of `shop`. */
class Edge {
  caller: Caller | undefined = ALLOWED;
  served: ServedSession | undefined = { session: LIVING, verdict: { result: 'fresh', reason: 'current' } };
  left = { expiresInMs: 110_500, renewInMs: 90_500 };
  readonly asked: [caller: string, merchant: string, permission: string][] = [];
  readonly counted: Parameters<SessionReads['served']>[] = [];

  /**
   * The answer; undefined when the request is passed on to the framework, in which case nothing may have been written.
   */
  read(request: { method?: string; url?: string; headers?: Record<string, string> } = {}): Answer | undefined {
    let answer: Answer | undefined;
    const response = {
      writeHead: (status: number, lines: readonly string[]) => ({
        end: (body?: string) => (answer = { status, headers: headersIn(lines), body }),
      }),
    } as unknown as ServerResponse;
    const isAnswered = this.#early()(
      { method: 'GET', url: PATH, headers: {}, ...request } as unknown as IncomingMessage,
      response,
    );
    expect(isAnswered).toBe(answer !== undefined);
    return answer;
  }

  #early(): ReturnType<typeof freshReads> {
    return freshReads({
      authenticator: { known: () => this.caller },
      policies: {
        allows: (caller, merchant, permission) => {
          this.asked.push([caller.name, merchant, permission]);
          return caller === ALLOWED && merchant === 'shop' && permission === 'session:read';
        },
      },
      replica: {
        wishes: { peek: () => this.served },
        held: { leftOf: () => this.left },
      } as unknown as Pick<SessionReplica, 'wishes' | 'held'>,
      reads: { served: (...read) => this.counted.push(read) },
    });
  }
}

let edge: Edge;
beforeEach(() => {
  edge = new Edge();
});

describe('a plain read of a fresh session', () => {
  it.each<[tag: string, status: number]>([
    ['"7"', 304],
    ['"1",W/"7"', 304],
    ['*', 304],
    ['7', 200],
    ['"77"', 200],
    ['', 200],
  ])('has no body for a caller that has it already: %s', (tag, status) => {
    const answer = edge.read({ headers: { 'if-none-match': tag } });
    expect([answer?.status, answer?.body === undefined]).toEqual([status, status === 304]);
  });

  it.each([{}, { 'if-none-match': '"7"' }])(
    'is counted once, as one of its caller, and only by right: %j',
    (headers) => {
      edge.read({ headers });
      expect(edge.counted).toEqual([[{ caller: 'checkout', merchant: 'shop', generation: 7 }, 'fresh']]);
      expect(edge.asked).toEqual([['checkout', 'shop', 'session:read']]);
    },
  );
});

describe('a plain read of the headers of a fresh session', () => {
  const url = `${PATH}/headers`;

  it.each([
    [url, 204],
    [`${url}/ext_authz`, 200],
  ])(
    'is the same whatever the client of the proxy holds or prefers, counted, and only by right: %s',
    (path, status) => {
      const answer = edge.read({ url: path, headers: { 'if-none-match': '*', prefer: 'wait=30' } });
      expect(answer).toMatchObject({
        status,
        headers: { 'x-device_id': LIVING.deviceId, 'cache-control': 'no-store' },
      });
      expect(edge.counted).toEqual([[{ caller: 'checkout', merchant: 'shop', generation: 7 }, 'fresh']]);
      expect(edge.asked).toEqual([['checkout', 'shop', 'session:read']]);
    },
  );
});

describe('what goes the way of the framework, with nothing written and nothing counted', () => {
  interface Row {
    readonly method?: string;
    readonly url?: string;
    readonly headers?: Record<string, string>;
    readonly caller?: Caller | undefined;
    readonly served?: ServedSession | undefined;
    /** The merchant whose policy is asked; nobody's by default. */
    readonly asks?: string;
  }
  const stranger = { name: 'stranger' };
  const stale = { session: LIVING, verdict: { result: 'stale', reason: 'past_margin' } } as const;

  it.each<Row>([
    ...['POST', 'HEAD', 'get'].map((method) => ({ method })),
    ...['wait=5', ''].map((prefer) => ({ headers: { prefer } })),
    ...[
      '',
      '/v1/merchants/shop',
      '/v1/merchants/shop/session/',
      '/v1/merchants/shop/session?minRemaining=30',
      '/v1/merchants/shop/session/rejections',
      '/v1/merchants/shop/session/headers/ext_authz/ecom',
      '/v1/merchants/shop/session/headers?minRemaining=30s',
      '//v1/merchants/shop/session',
      '/V1/merchants/shop/session',
      'http://broker/v1/merchants/shop/session',
    ].map((url) => ({ url })),
    // A merchant that is no configured one.
    { url: '/v1/merchants/session', asks: '' },
    { url: '/v1/merchants/a/b/session', asks: 'a/b' },
    { url: '/v1/merchants/../session', asks: '..' },
    { url: '/v1/merchants/sho%70/session', asks: 'sho%70' },
    { url: '/v1/merchants/shop?x=/session', asks: 'shop?x=' },
    { url: '/v1/merchants/__proto__/session', asks: '__proto__' },
    { caller: undefined },
    { caller: stranger, asks: 'shop' },
    { served: undefined, asks: 'shop' },
    { served: stale, asks: 'shop' },
  ])('is %j', ({ asks, ...given }) => {
    const { caller, served, ...request } = { caller: edge.caller, served: edge.served, ...given };
    Object.assign(edge, { caller, served });
    expect(edge.read(request)).toBeUndefined();
    expect(edge.counted).toEqual([]);
    expect(edge.asked).toEqual(asks === undefined ? [] : [[caller?.name, asks, 'session:read']]);
  });
});
