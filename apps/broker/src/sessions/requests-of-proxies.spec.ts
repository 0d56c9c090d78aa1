import type { IncomingMessage, ServerResponse } from 'node:http';
import { turnIntoRead } from './fresh-reads.js';

const PATH = '/v1/merchants/shop/session/headers/ext_authz';

const TO_COME = { 'content-length': '5' };

type Row = [method: string, url: string, headers: Record<string, string>, read: string, path: string, isKept: boolean];

it.each<Row>([
  // A plain read, whatever the proxy adds.
  ['POST', PATH, {}, 'GET', PATH, true],
  ['POST', `${PATH}?minRemaining=60s`, {}, 'GET', `${PATH}?minRemaining=60s`, true],
  ['POST', `${PATH}/ecom?minRemaining=1h&force=true`, {}, 'GET', PATH, true],
  ['GET', `${PATH}/../../../hidden/session/headers/ext_authz`, {}, 'GET', PATH, true],
  // Left to be refused with its method.
  ['HEAD', `${PATH}/ecom`, {}, 'HEAD', PATH, true],
  ['post', `${PATH}/ecom`, {}, 'post', PATH, true],
  // No connection is kept on which a body is to come.
  ['POST', PATH, { 'content-length': '0' }, 'GET', PATH, true],
  ['POST', PATH, TO_COME, 'GET', PATH, false],
  ['POST', PATH, { 'transfer-encoding': 'chunked' }, 'GET', PATH, false],
  // Any other request is handed on as it came.
  ...[
    '/v1/merchants/shop/session/headers',
    '/v1/merchants/shop/session/headers/ecom',
    '/v1/merchants/shop/session/headers/ext_authzome',
    '/v1/merchants/shop/payloads/decrypt/session/headers/ext_authz',
    '/v1/merchants/session/headers/ext_authz/x',
    '/v1/merchants//x/session/headers/ext_authz',
    '/x/v1/merchants/shop/session/headers/ext_authz',
  ].map((url): Row => ['POST', url, TO_COME, 'POST', url, true]),
])('Envoy asks by %s %s with %j: read as %s %s, and its connection kept: %s', (...[method, url, headers, ...read]) => {
  const request = { method, url, headers } as unknown as IncomingMessage;
  const response = { shouldKeepAlive: true } as ServerResponse;
  turnIntoRead(request, response);
  expect([request.method, request.url, response.shouldKeepAlive]).toEqual(read);
});
