import type { IncomingMessage, ServerResponse } from 'node:http';
import { turnIntoRead } from './fresh-reads.js';

const PATH = '/v1/merchants/shop/session/headers/ext_authz';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly isKept: boolean;
}

/** What is passed on of a request, and whether its connection is kept. */
function handedOn(method: string, url: string, headers: Record<string, string> = {}): Seen {
  const request = { method, url, headers } as unknown as IncomingMessage;
  const response = { shouldKeepAlive: true } as ServerResponse;
  turnIntoRead(request, response);
  return { method: request.method, url: request.url, isKept: response.shouldKeepAlive };
}

describe('a request of Envoy for the headers of a session', () => {
  it.each([
    ['POST', PATH, PATH],
    ['POST', `${PATH}?minRemaining=60s`, `${PATH}?minRemaining=60s`],
    ['POST', `${PATH}/ecom?minRemaining=1h&force=true`, PATH],
    ['GET', `${PATH}/../../../hidden/session/headers/ext_authz`, PATH],
  ])('is a plain read, whatever the proxy adds: %s %s', (method, url, read) => {
    expect(handedOn(method, url)).toEqual({ method: 'GET', url: read, isKept: true });
  });

  it.each(['HEAD', 'post'])('is left to be refused with the method %s', (method) => {
    expect(handedOn(method, `${PATH}/ecom`)).toMatchObject({ method, url: PATH });
  });

  it.each([{ 'content-length': '5' }, { 'transfer-encoding': 'chunked' }])(
    'does not keep a connection on which a body is to come: %j',
    (headers) => {
      expect(handedOn('POST', PATH, headers).isKept).toBe(false);
      expect(handedOn('POST', PATH, { 'content-length': '0' }).isKept).toBe(true);
    },
  );
});

describe('any other request', () => {
  it.each([
    '/v1/merchants/shop/session/headers',
    '/v1/merchants/shop/session/headers/ecom',
    '/v1/merchants/shop/session/headers/ext_authzome',
    '/v1/merchants/shop/payloads/decrypt/session/headers/ext_authz',
    '/v1/merchants/session/headers/ext_authz/x',
    '/v1/merchants//x/session/headers/ext_authz',
    '/x/v1/merchants/shop/session/headers/ext_authz',
  ])('is handed on as it came: %s', (url) => {
    expect(handedOn('POST', url, { 'content-length': '5' })).toEqual({ method: 'POST', url, isKept: true });
  });
});
