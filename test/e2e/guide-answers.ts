import { generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';

/** What a broker or a gateway answers to a guide's program. */
export type Answer = (response: ServerResponse) => unknown;

export const json =
  (status: number, document: object): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(document));
export const dead = json(401, { msgCode: 'b_session_doesnt_exist' });
export const page =
  (status: number): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'text/html' }).end('<html>a page</html>');
export const serverPublic = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' });
export function session(generation: number): Answer {
  const [createdAt, renewAt, expiresAt] = [0, 600_000, 900_000].map((ms) => new Date(Date.now() + ms).toISOString());
  const left = { renewInMs: 600_000, expiresInMs: 900_000 };
  const times = { createdAt, renewAt, expiresAt, ...left, clientKeyThumbprint: 'thumbprint' };
  const secrets = { authToken: 'auth-token', deviceId: 'device-id', refreshToken: 'refresh-token', serverPublic };
  return json(200, { merchant: 'shop', generation, ...secrets, ...times });
}
