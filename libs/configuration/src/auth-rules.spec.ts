import { faults, parse, type Raw } from './configuration-fixtures.js';

const token = { caller: 'checkout', sha256: 'ab'.repeat(32) };
const jwt = { issuer: 'https://issuer.example', audience: 'session-broker', jwksUri: 'https://issuer.example/jwks' };
const tls = { certFile: 'tls.crt', keyFile: 'tls.key' };
const policy = { caller: 'checkout', merchants: ['shop'], allow: ['session:read'] };

describe('the access to the API', () => {
  it('is warned of where a network can reach it without TLS', () => {
    const warnings = (http: object): string[] =>
      parse({ http, auth: { tokens: [token], policies: [policy] } }).warnings.map(({ path }) => path);
    expect([warnings({ host: '0.0.0.0' }), warnings({ host: '::' })]).toEqual([['http.tls'], ['http.tls']]);
    expect([warnings({ host: '0.0.0.0', tls }), warnings({ host: '127.0.0.1' })]).toEqual([[], []]);
  });

  it('takes callers from an issuer and from certificates, whose names are not in the file', () => {
    const parsed = parse({
      http: { host: '0.0.0.0', tls: { ...tls, clientCaFile: 'ca.pem' } },
      auth: { jwt: { ...jwt, jwksTokenFile: 'token', clockTolerance: '1m' }, mtls: true, policies: [policy] },
    });
    expect(parsed.warnings).toEqual([]);
    expect(parsed.http.tls).toEqual({ certFile: 'tls.crt', keyFile: 'tls.key', clientCaFile: 'ca.pem' });
    expect(parsed.auth).toMatchObject({
      mtls: true,
      jwt: {
        issuer: 'https://issuer.example',
        audience: 'session-broker',
        clockToleranceMs: 60_000,
        jwksUri: new URL('https://issuer.example/jwks'),
        jwksTokenFile: 'token',
      },
    });
  });

  it.each(['auth', 'auth.disabled', 'auth.jwt', 'auth.mtls', 'auth.tokens'])(
    'says of %s from a variable that is not set which one, and nothing that follows from it',
    (path) => {
      const [, setting] = path.split('.');
      const auth = setting === undefined ? '${HIDDEN}' : { [setting]: '${HIDDEN}' };
      expect(faults({ http: { host: '0.0.0.0' }, auth })).toEqual([
        `${path} needs the environment variable HIDDEN, which is not set`,
      ]);
    },
  );

  it.each<[string, Raw, string]>([
    [
      'auth disabled beside an issuer',
      { auth: { disabled: true, jwt } },
      'auth.disabled makes tokens, jwt, mtls and policies ineffective; remove either it or them',
    ],
    [
      'an issuer whose keys are nowhere',
      { auth: { jwt: { ...jwt, jwksUri: undefined } } },
      'auth.jwt.jwksUri is missing: the keys of the issuer come from jwksUri or jwksFile',
    ],
    [
      'an issuer whose keys are in two places',
      { auth: { jwt: { ...jwt, jwksFile: 'jwks.json' } } },
      'auth.jwt.jwksFile is given as well as auth.jwt.jwksUri; give only one of them',
    ],
    [
      'keys of an issuer over http',
      { auth: { jwt: { ...jwt, jwksUri: 'http://issuer.example/jwks' } } },
      'auth.jwt.jwksUri must be an https URL without user or fragment (http only on a loopback address)',
    ],
    [
      'client certificates without TLS',
      { auth: { mtls: true } },
      'http.tls is missing: auth.mtls needs certFile, keyFile and clientCaFile',
    ],
    [
      'client certificates without an authority',
      { http: { tls }, auth: { mtls: true } },
      'http.tls.clientCaFile is missing: auth.mtls needs certFile, keyFile and clientCaFile',
    ],
    [
      'an authority for client certificates that nobody asks for',
      { http: { tls: { ...tls, clientCaFile: 'ca.pem' } }, auth: { tokens: [token], policies: [policy] } },
      'http.tls.clientCaFile has no effect without auth.mtls; set auth.mtls, or remove this',
    ],
    [
      'a type of token that is none',
      { auth: { jwt: { ...jwt, types: ['at jwt'] } } },
      "auth.jwt.types[0] must be a type of token, such as 'at+jwt' or 'application/at+jwt'",
    ],
    [
      'TLS without a key',
      { http: { tls: { certFile: 'tls.crt' } }, auth: { tokens: [token], policies: [policy] } },
      'http.tls.keyFile is missing: it must be the path of a file',
    ],
  ])('is refused with %s', (_name, access, expected) => {
    expect(faults(access)).toEqual([expected]);
  });
});
