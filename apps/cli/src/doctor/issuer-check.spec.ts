import { whatIsWrong } from '#libs/issuer';
import { discoveryAddress } from './issuer-check.js';

const KUBERNETES = 'https://kubernetes.default.svc/.well-known/openid-configuration';

describe('where the issuer of keys says what it calls itself', () => {
  it.each([
    ['https://kubernetes.default.svc.cluster.local', 'https://kubernetes.default.svc/openid/v1/jwks', KUBERNETES],
    ['https://oidc.eks.example/id/1', 'https://kubernetes.default.svc/openid/v1/jwks', KUBERNETES],
    [
      'https://a.example',
      'https://b.example/clusters/c/openid/v1/jwks',
      'https://b.example/clusters/c/.well-known/openid-configuration',
    ],
    [
      'https://idp.example/realms/x',
      'https://idp.example/realms/x/certs?a=b',
      'https://idp.example/realms/x/.well-known/openid-configuration',
    ],
    ['https://idp.example/', 'https://idp.example/keys', 'https://idp.example/.well-known/openid-configuration'],
  ])('for %s, with keys at %s, is %s', (issuer, keys, address) => {
    expect(discoveryAddress(issuer, new URL(keys))?.href).toBe(address);
  });

  it.each([
    ['https://sts.example/1/', 'https://login.example/common/discovery/keys'],
    ['https://idp.example:8443', 'https://idp.example/keys'],
    ['the-issuer', 'https://idp.example/keys'],
  ])('for %s, with keys at %s, is not known', (issuer, keys) => {
    expect(discoveryAddress(issuer, new URL(keys))).toBeUndefined();
  });

  it('never leads to another host than that of the keys, to which a token goes', () => {
    const { host } = discoveryAddress('x', new URL('https://idp.example//elsewhere.example/openid/v1/jwks')) ?? {};
    expect(host).toBe('idp.example');
  });
});

describe('why the keys of an issuer cannot be had', () => {
  const place = { uri: new URL('https://idp.example/keys') };
  type Failure = Parameters<typeof whatIsWrong>[0];
  const status = (httpStatus: number, hadToken = true): Failure => ({ kind: 'status', httpStatus, hadToken });
  const end = { kind: 'unreachable', mark: 'ECONNREFUSED', wasReached: false };
  const refusedConnection = { kind: 'no_answer', end } as unknown as Failure;

  it.each<[Failure, string, RegExp, RegExp]>([
    [status(401), 'refused', /^the token of auth\.jwt\.jwksTokenFile is not accepted \(HTTP 401 from/, /put a token/],
    [status(401, false), 'refused', /wants a token, and none is configured/, /set auth\.jwt\.jwksTokenFile/],
    [status(302), 'invalidInput', /^the address leads elsewhere, .* \(HTTP 302 from/, /jwksUri/],
    [status(503), 'tryLater', /^the issuer reports a fault of its own \(HTTP 503 from/, /ask those who run/],
    [{ kind: 'token_file', mark: 'ENOENT' }, 'invalidInput', /cannot be read \(ENOENT\)$/, /put a token/],
    [refusedConnection, 'tryLater', /^nothing listens there/, /auth\.jwt\.jwksUri names the host/],
  ])('is told with what to do: %j', (...[failure, fault, problem, remedy]) => {
    expect(whatIsWrong(failure, place)).toEqual({
      fault,
      problem: expect.stringMatching(problem),
      remedy: expect.stringMatching(remedy),
    });
  });
});
