import type { IncomingMessage, ServerResponse } from 'node:http';
import { endedAfterEach, freePort, LoopbackServer, TestAuthority, TestIssuer } from '#libs/testing';
import { Examined, type Examination, messagesOf } from './examined.js';

const { ISSUER, AUDIENCE } = TestIssuer;
const DISCOVERY = '/.well-known/openid-configuration';
const PATH = '/openid/v1/jwks';
const TOKEN = 'token-for-the-keys';

type Listener = (request: IncomingMessage, response: ServerResponse) => void;
type Documents = Readonly<Record<string, object>>;

const issuerKey = new TestIssuer('one').publicJwk;
const KEYS = { keys: [issuerKey] };

/** Answers as a Kubernetes API server does: with documents, to those who present a token. */
const publishing =
  (documents: Documents): Listener =>
  ({ url = '', headers }, response) => {
    const document = documents[url];
    if (headers.authorization !== `Bearer ${TOKEN}`) response.writeHead(401).end();
    else if (document === undefined) response.writeHead(404).end();
    else response.end(JSON.stringify(document));
  };

describe('doctor: the keys of an issuer', () => {
  const authority = new TestAuthority();
  const started = endedAfterEach();
  let examined: Examined;

  beforeEach(async () => {
    examined = started.add(await Examined.create(), (it) => it.remove());
    await examined.write('token', `${TOKEN}\n`);
    await examined.write('ca.pem', authority.cert);
  });

  const serve = async (listener: Listener): Promise<number> =>
    started.add(await LoopbackServer.http(listener), (it) => it.close()).port;

  const serveTls = async (listener: Listener, by = authority): Promise<number> => {
    const certificate = by.issue({ names: ['127.0.0.1'] });
    return started.add(await LoopbackServer.https(certificate, listener), (it) => it.close()).port;
  };

  async function examine(jwt: string | undefined): Promise<Examination> {
    const auth = jwt === undefined ? 'disabled: true' : `jwt: { issuer: '${ISSUER}', audience: ${AUDIENCE}, ${jwt} }`;
    await examined.configure([{ gatewayUrl: `http://127.0.0.1:${await freePort()}` }]);
    await examined.change('auth: { disabled: true }', `auth: { ${auth} }`);
    return examined.doctor();
  }

  const at = (port: number, path = PATH): string => `jwksUri: 'http://127.0.0.1:${port}${path}', jwksTokenFile: token`;

  it('are had as the broker has them: with its token, over TLS of the authority that it is given', async () => {
    const port = await serveTls(publishing({ [PATH]: KEYS, [DISCOVERY]: { issuer: ISSUER } }));
    const { check, text } = await examine(
      `jwksUri: 'https://127.0.0.1:${port}${PATH}', jwksTokenFile: token, jwksCaFile: ca.pem`,
    );
    expect(check('auth.jwks')).toMatchObject({
      status: 'passed',
      facts: { address: `https://127.0.0.1:${port}${PATH}`, keys: 1, usableKeys: 1 },
    });
    expect(messagesOf(check('auth.jwks'), 'fact')).toEqual([
      expect.stringMatching(
        /^keys of the issuer: 1 of 1 usable, from https:\/\/127\.0\.0\.1:\d+\/openid\/v1\/jwks after \d+ ms$/,
      ),
      `the issuer calls itself ${ISSUER}, as configured`,
    ]);
    expect(text).not.toContain(TOKEN);
  });

  it('are not looked for where no issuer is configured, or where they are in a file', async () => {
    await examined.write('jwks.json', JSON.stringify(KEYS));
    for (const jwt of [undefined, 'jwksFile: jwks.json'])
      expect((await examine(jwt)).checks.map(({ name }) => name)).not.toContain('auth.jwks');
  });

  it('fail at a certificate that the authority does not vouch for, and nothing is asked', async () => {
    let asked = 0;
    const port = await serveTls(() => void (asked += 1), new TestAuthority());
    const { check } = await examine(`jwksUri: 'https://127.0.0.1:${port}${PATH}', jwksCaFile: ca.pem`);
    expect(check('auth.jwks').findings).toMatchObject([
      {
        faultClass: 'refused',
        message: expect.stringMatching(/^the certificate of 127\.0\.0\.1:\d+ is not trusted \([A-Z_]+\)$/),
        remedy: expect.stringContaining('auth.jwt.jwksCaFile'),
      },
    ]);
    expect(asked).toBe(0);
  });

  it.each<[string, object, number, string, RegExp]>([
    ['a status that is no success', {}, 404, 'invalidInput', /^nothing is published at the address \(HTTP 404 from/],
    ['JSON that is no key set', { keys: {} }, 200, 'invalidAnswer', /is no JSON Web Key Set$/],
    ['an answer without end', { keys: [' '.repeat(300_000)] }, 200, 'invalidAnswer', /is longer than 262144 bytes$/],
    [
      'keys for encryption alone',
      { keys: [{ ...issuerKey, use: 'enc' }] },
      200,
      'invalidAnswer',
      /^none of the keys .* \(keys: 1\)$/,
    ],
  ])('fail at %s', async (...[, body, status, faultClass, message]) => {
    const port = await serve((_request, response) => void response.writeHead(status).end(JSON.stringify(body)));
    const { check } = await examine(at(port));
    expect(check('auth.jwks').status).toBe('failed');
    expect(check('auth.jwks').findings[0]).toMatchObject({ faultClass, message: expect.stringMatching(message) });
    expect(check('auth.jwks').findings[0]?.remedy).not.toBe('');
  });

  it('fail where the issuer calls itself otherwise than configured: each of its tokens would be refused', async () => {
    const port = await serve(publishing({ [PATH]: KEYS, [DISCOVERY]: { issuer: `${ISSUER}/` } }));
    const { check, code } = await examine(at(port));
    expect(messagesOf(check('auth.jwks'), 'fault')).toEqual([
      `the issuer calls itself ${ISSUER}/, but auth.jwt.issuer is ${ISSUER}: its tokens are refused`,
    ]);
    expect(code).toBe(2);
  });
});
