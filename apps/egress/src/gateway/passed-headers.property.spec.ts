import type { IncomingHttpHeaders } from 'node:http';
import fc from 'fast-check';
import type { Session } from '#libs/client';
import { answerHeaders } from './answer-headers.js';
import { passedHeaders, requestHeaders } from './request-headers.js';

const OF_ONE_CONNECTION = [
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
];
const OF_A_SESSION = ['x-device_id', 'x-refresh_token', 'x-api_version'];
const FOR_US = ['host', 'authorization', 'cookie', 'expect', 'content-length', 'forwarded', 'via'];

const requestId = 'request-1';
const session = { deviceId: 'our-device', refreshToken: 'our-refresh-token' } as Session;

const ordinary = fc.stringMatching(/^x-[a-z]{1,8}$/);
const names = fc.oneof(ordinary, fc.constantFrom(...OF_ONE_CONNECTION, ...OF_A_SESSION, ...FOR_US, 'x-forwarded-for'));
const cased = fc
  .tuple(ordinary, fc.boolean(), fc.constantFrom('', ' ', '\t'))
  .map(([name, isUpper, space]) => space + (isUpper ? name.toUpperCase() : name) + space);
const connections = fc.array(fc.oneof(cased, fc.constantFrom('close', 'keep-alive', '')));
const headers = fc
  .tuple(
    fc.dictionary(names, fc.constant('theirs')),
    fc.option(
      fc.oneof(
        connections.map((list) => list.join(',')),
        connections,
      ),
      { nil: undefined },
    ),
  )
  // As the types of Node.js do not say, undici gives a list for a header that was sent twice.
  .map(([given, connection]) => (connection === undefined ? given : { ...given, connection }) as IncomingHttpHeaders);

const namedBy = ({ connection = '' }: IncomingHttpHeaders): string[] =>
  String(connection)
    .split(',')
    .map((name) => name.trim().toLowerCase());

describe('the headers of a request to the gateway, whatever the client sent', () => {
  it('are those of the session, each once, and of the client no others than those that are named', () => {
    const also = 'x-also';
    fc.assert(
      fc.property(headers, (given) => {
        const sent = { ...given, traceparent: 'theirs', [also]: 'theirs' };
        const passed = requestHeaders(sent, session, passedHeaders([also]));
        const kept = ['traceparent', also].filter((name) => !namedBy(given).includes(name));
        expect(passed).toEqual({
          'accept-encoding': 'identity',
          'x-api_version': 'V1',
          'x-device_id': 'our-device',
          'x-refresh_token': 'our-refresh-token',
          ...Object.fromEntries(kept.map((name) => [name, 'theirs'])),
        });
      }),
    );
  });

  it('have no refresh token where the session has none', () => {
    const { deviceId } = session;
    const given = { 'x-refresh_token': 'theirs', 'x-refresh-token': 'theirs' };
    expect(requestHeaders(given, { deviceId } as Session, passedHeaders([]))).toEqual({
      'accept-encoding': 'identity',
      'x-api_version': 'V1',
      'x-device_id': 'our-device',
    });
  });
});

describe('the headers of an answer to the client, whatever the gateway sent', () => {
  const bodies = fc.constantFrom('same' as const, 'changed' as const);

  it('have none of those of its connection, and none of a session', () => {
    fc.assert(
      fc.property(headers, bodies, (given, body) => {
        const passed = Object.keys(
          answerHeaders({ ...given, 'set-cookie': ['a=b'], 'alt-svc': 'h3' }, { requestId, body }),
        );
        const kept = passed.filter((name) => OF_ONE_CONNECTION.includes(name) || namedBy(given).includes(name));
        expect(kept).toEqual([]);
        expect(passed).not.toEqual(
          expect.arrayContaining([expect.stringMatching(/^(set-cookie|alt-svc|x-device_id|x-refresh_token)$/)]),
        );
      }),
    );
  });

  it('say nothing of a body that was changed', () => {
    fc.assert(
      fc.property(headers, (given) => {
        const ofTheBody = { 'content-length': '5', 'content-type': 'a/b', 'content-encoding': 'gzip', etag: '"1"' };
        const passed = answerHeaders({ ...given, ...ofTheBody, connection: undefined }, { requestId, body: 'changed' });
        expect(Object.keys(passed).filter((name) => name in ofTheBody)).toEqual([]);
        expect(answerHeaders(ofTheBody, { requestId, body: 'same' })).toEqual({
          ...ofTheBody,
          'x-request-id': requestId,
        });
      }),
    );
  });
});
