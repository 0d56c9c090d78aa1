import { hash, X509Certificate } from 'node:crypto';
import { endedAfterAll, TestAuthority, type TestCertificate, TestIssuer } from '#libs/testing';
import { type Answer, call } from './call.js';
import { RunningBroker, TOKENS } from './running-broker.js';

const SESSION = '/v1/merchants/shop/session';
const CHECKOUT = 'spiffe://shop.example/checkout';
/** May read only with a bound credential. */
const BOUND = 'spiffe://shop.example/bound';

describe('callers with client certificates', () => {
  const authority = new TestAuthority();
  const server = authority.issue({ names: ['127.0.0.1'] });
  const checkout = authority.issue({ names: [CHECKOUT] });
  const issuer = new TestIssuer();
  let broker: RunningBroker;

  const started = endedAfterAll();
  beforeAll(async () => {
    broker = started.add(
      await RunningBroker.start({
        http: 'tls: { certFile: tls.crt, keyFile: tls.key, clientCaFile: ca.pem }',
        auth: [
          `  - { caller: '${BOUND}', merchants: [shop], allow: [session:read], boundTokens: true }`,
          `  - { caller: checkout, merchants: [hidden], allow: [session:read], boundTokens: true }`,
          'mtls: true',
          `jwt: { issuer: '${TestIssuer.ISSUER}', audience: ${TestIssuer.AUDIENCE}, jwksFile: jwks.json }`,
        ],
        callers: [CHECKOUT, TestIssuer.SUBJECT],
        files: {
          'tls.crt': server.cert,
          'tls.key': server.key,
          'ca.pem': authority.cert,
          'jwks.json': JSON.stringify({ keys: [issuer.publicJwk] }),
        },
      }),
      (it) => it.close(),
    );
  });

  const ask = (
    client: TestCertificate | undefined,
    { path = SESSION, token }: { path?: string; token?: string } = {},
  ): Promise<Answer> => {
    const credential = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const headers = { prefer: 'wait=60', ...credential };
    return call(broker.url + path, { ca: authority.cert, ...client, headers });
  };

  const refused: Record<string, () => TestCertificate | undefined> = {
    'without a certificate': () => undefined,
    'with a certificate of another authority': () => new TestAuthority().issue({ names: [CHECKOUT] }),
    'with one that is not yet valid': () =>
      authority.issue({ names: [CHECKOUT], notBefore: new Date(Date.now() + 60_000) }),
    'with one that names nobody': () => authority.issue({ names: [], commonName: 'not a name' }),
  };

  it.each(Object.entries(refused))(
    'are refused %s, by an answer and not by a broken connection',
    async (_what, make) => {
      const answer = await ask(make());
      expect([answer.status, answer.body['code']]).toEqual([401, 'unauthenticated']);
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="session-broker"');
    },
  );

  it('are known by their certificate, or by the token when they send one: it may be good without a certificate', async () => {
    expect((await ask(checkout)).body['merchant']).toBe('shop');
    expect((await ask(undefined, { token: TOKENS.checkout })).status).toBe(200);
    expect((await ask(checkout, { token: TOKENS.reporting })).status).toBe(403);
    expect((await ask(checkout, { token: 'wrong' })).status).toBe(401);
  });

  describe('and with tokens of an issuer', () => {
    const tokenFor = ({ cert }: TestCertificate, claims: object = {}): string => {
      const thumbprint = hash('sha256', new X509Certificate(cert).raw, 'base64url');
      return issuer.token(Date.now(), { cnf: { 'x5t#S256': thumbprint }, ...claims });
    };
    const statusOf = async (client: TestCertificate | undefined, token?: string): Promise<number | undefined> =>
      (await ask(client, token === undefined ? {} : { token })).status;

    it('may use a bound token on a connection with its certificate, and on no other, remembered or not', async () => {
      const token = tokenFor(checkout);
      const another = authority.issue({ names: [CHECKOUT] });
      expect(await statusOf(another, token)).toBe(401);
      expect(await statusOf(checkout, token)).toBe(200);
      expect([await statusOf(another, token), await statusOf(undefined, token)]).toEqual([401, 401]);
      expect(broker.lines.join('')).toContain('credential refused: binding');
    });

    it('may bind a token to a certificate that names nobody, and to none that no authority vouches for', async () => {
      const nameless = authority.issue({ names: [], commonName: 'not a name' });
      const foreign = new TestAuthority().issue({ names: [CHECKOUT] });
      expect(await statusOf(nameless, tokenFor(nameless))).toBe(200);
      expect(await statusOf(foreign, tokenFor(foreign))).toBe(401);
    });

    it('need a bound one, or the certificate itself, where a policy demands it', async () => {
      const own = authority.issue({ names: [BOUND] });
      expect(await statusOf(undefined, issuer.token(Date.now()))).toBe(200);
      expect(await statusOf(own)).toBe(200);
      expect(await statusOf(checkout, tokenFor(checkout, { sub: BOUND }))).toBe(200);
      expect(await statusOf(own, issuer.token(Date.now(), { sub: BOUND }))).toBe(403);
      const hidden = await ask(checkout, { path: '/v1/merchants/hidden/session', token: TOKENS.checkout });
      expect(hidden.status).toBe(403);
    });
  });
});
