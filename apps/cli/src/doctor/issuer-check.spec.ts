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
