import fc from 'fast-check';
import { instantFromEpochMs } from '#libs/clock';
import { GatewayFailure } from '#libs/session';
import { aServerPublicKey } from '#libs/testing';
import { readAnswer } from '../../../libs/gateway/src/answer-reader.js';
import { readSession } from '../../../libs/gateway/src/session-plaintext.js';
import { anyOf, damaged } from '../damaged.js';
import { demand, pureTarget } from '../fuzz-target.js';

const AS_OF = instantFromEpochMs(Date.UTC(2026, 0, 1));
/** Would appear in a failure that quotes what it read. */
const CANARY = 'Zk7canaryQ';
const AUTH_TOKEN = '5ec2e700-0000-4000-8000-000000000000';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MAX_DETAIL = 400;

const uuid = anyOf(AUTH_TOKEN, AUTH_TOKEN.toUpperCase(), CANARY, `${AUTH_TOKEN}\n`, null, '');
const moment = anyOf(
  ...['2026-01-01 00:15:00.0000 +0000', '2026-01-01T00:15:00+02:00', '2026-02-30 00:00:00 +0000', CANARY, null],
  ...['0000-01-01 00:00:00 Z', '9999-12-31 23:59:59.999999999 -1800', '2026-01-01 24:00:00 Z', 1_767_226_500_000],
);
const coordinates = aServerPublicKey();
const jwk = fc.oneof(
  { weight: 3, arbitrary: fc.constant<unknown>(coordinates) },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        kty: anyOf('EC', 'RSA', CANARY),
        crv: anyOf('P-384', 'P-256'),
        x: anyOf(coordinates.x, 'A'.repeat(64), `${coordinates.x}=`, CANARY),
        y: anyOf(coordinates.y, coordinates.x),
        d: anyOf('A'.repeat(64)),
        use: anyOf('enc', 'sig'),
        alg: anyOf('ECDH-ES+A256KW', 'none'),
        key_ops: anyOf(['deriveKey'], ['sign'], []),
      },
      { requiredKeys: ['kty', 'crv', 'x', 'y'] },
    ),
  },
);
const fields = fc.record(
  {
    authToken: uuid,
    deviceId: uuid,
    refreshToken: uuid,
    serverPublic: jwk,
    serverPublicKey: jwk,
    tokenExpirationDateTime: moment,
    tokenExpiration: moment,
    sessionExpiration: moment,
  },
  { requiredKeys: ['authToken', 'deviceId'] },
);
const session = fields.map((content) => JSON.stringify(content));

function checkFailure(error: unknown): void {
  if (!(error instanceof GatewayFailure)) throw error;
  demand(error.message.length <= MAX_DETAIL, 'a failure is a line, however long the input is');
  demand(!`${error.message} ${error.stack}`.includes(CANARY), 'a failure quotes nothing of what it read');
}

function checkSession(plaintext: Uint8Array): void {
  const read = readSession(plaintext, { asOf: AS_OF, marks: { httpStatus: 200 } });
  const { authToken, deviceId, refreshToken = authToken, serverPublic } = read;
  demand(
    [authToken, deviceId, refreshToken].every((one) => UUID.test(one)),
    'the parts of a session are UUIDs',
  );
  demand(Object.keys(serverPublic).sort().join() === 'crv,kty,x,y', 'a server key has four members');
  demand(Buffer.from(serverPublic.x, 'base64url').length === 48, 'a coordinate has 48 octets');
  const { expiresAt } = read;
  demand(expiresAt === undefined || Number.isFinite(expiresAt), 'an expiry is a moment');
}

/** What the gateway has sealed for the merchant, once opened. */
export const sessionPlaintexts = pureTarget({ name: 'session', runsPerRound: 3_000 }, () =>
  fc.property(damaged(session), (plaintext) => {
    try {
      checkSession(plaintext);
    } catch (error) {
      checkFailure(error);
    }
  }),
);

const header = anyOf('5', '-1', '99999999999999', 'Thu, 01 Jan 2026 00:00:10 GMT', 'text/html', CANARY, ['a', 'b']);
const answer = fc.record({
  httpStatus: fc.constantFrom(200, 201, 204, 302, 400, 401, 403, 404, 408, 429, 500, 502, 503),
  headers: fc.dictionary(fc.constantFrom('retry-after', 'date', 'content-type', 'x-request_id'), header, {
    maxKeys: 3,
  }) as fc.Arbitrary<Record<string, string>>,
  bytes: damaged(
    fc.oneof(
      fc
        .record(
          {
            jwe: anyOf('a.b.c.d.e', ''),
            msgType: anyOf('ERROR', 'VALIDATION_ERROR'),
            msgCode: anyOf('SESSION_EXPIRED', CANARY, '<script>', 'x'.repeat(65)),
            requestId: anyOf('r-1', '\r\nx: y'),
            msgText: anyOf(CANARY),
          },
          { requiredKeys: [] },
        )
        .map((body) => JSON.stringify(body)),
      fc.constantFrom('', '<!doctype html><title>x', '   ', '[]', 'null', '\u{FEFF}{}'),
    ),
  ),
});

/** What comes over the wire from the gateway, or from whatever is in front of it. */
export const gatewayAnswers = pureTarget({ name: 'gateway-answer', runsPerRound: 6_000 }, () =>
  fc.property(answer, ({ httpStatus, headers, bytes }) => {
    const body = { kind: 'complete', bytes } as const;
    try {
      const sealed = readAnswer({ httpStatus, headers, body, sentAt: AS_OF, receivedAt: AS_OF });
      demand(sealed.jwe !== '' && httpStatus < 300, 'only a success is a session');
    } catch (error) {
      if (!(error instanceof GatewayFailure)) throw error;
      demand(error.message.length <= MAX_DETAIL, 'a failure is a line, however long the answer is');
      const { retryAfterMs = 0 } = error;
      demand(Number.isFinite(retryAfterMs) && retryAfterMs >= 0, 'a wait is a length of time');
    }
  }),
);
