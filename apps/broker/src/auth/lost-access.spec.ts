import type { BrokerConfiguration } from '#libs/configuration';
import { authoritiesShrank, lostAccess } from './lost-access.js';

const ca = (name: string): string => `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----\n`;
const set = (...kids: string[]): object => ({
  issuer: 'https://issuer.example',
  audience: 'session-broker',
  keys: { kind: 'set', set: { keys: kids.map((kid) => ({ kty: 'EC', kid })) } },
});

type Token = [caller: string, sha256: string];
const CHECKOUT: Token = ['checkout', 'a'];
const REPORTS: Token = ['reports', 'b'];

function configuration({
  tokens = [CHECKOUT, REPORTS],
  policies = ['checkout', 'reports', 'batch'],
  merchants = ['shop'],
  jwt,
  clientCa,
}: {
  tokens?: Token[];
  policies?: string[];
  merchants?: string[];
  jwt?: object;
  clientCa?: string;
}): BrokerConfiguration {
  const parts = {
    http: { tls: clientCa === undefined ? undefined : { clientCa } },
    auth: {
      disabled: false,
      tokens: tokens.map(([caller, sha256]) => ({ caller, sha256 })),
      policies: policies.map((caller) => ({ caller, merchants: ['*'], allow: ['session:read'] })),
      jwt,
    },
    merchants: merchants.map((id) => ({ id })),
  };
  return parts as unknown as BrokerConfiguration;
}

type Change = Parameters<typeof configuration>[0];

/** Of those who follow `shop`. */
const losers = (before: Change, after: Change): string[] => {
  const isLost = lostAccess(configuration(before), configuration(after));
  return ['checkout', 'reports', 'batch'].filter((caller) => isLost(caller, 'shop'));
};

describe('who loses access by a change', () => {
  it.each<{ what: string; before?: Change; after: Change; lost: string[] }>([
    { what: 'nothing', after: {}, lost: [] },
    { what: 'a policy that is gone', after: { policies: ['checkout', 'batch'] }, lost: ['reports'] },
    { what: 'a merchant that is gone', after: { merchants: ['tickets'] }, lost: ['checkout', 'reports', 'batch'] },
    { what: 'a token that is gone', after: { tokens: [CHECKOUT] }, lost: ['reports'] },
    { what: 'a token in the place of another', after: { tokens: [['checkout', 'c'], REPORTS] }, lost: ['checkout'] },
    { what: 'a second token', after: { tokens: [CHECKOUT, ['checkout', 'c'], REPORTS] }, lost: [] },
    { what: 'an issuer', after: { jwt: set('1') }, lost: [] },
    { what: 'no issuer any more', before: { jwt: set('1') }, after: {}, lost: ['batch'] },
    { what: 'one more key of the issuer', before: { jwt: set('1') }, after: { jwt: set('2', '1') }, lost: [] },
    { what: 'another key of the issuer', before: { jwt: set('1') }, after: { jwt: set('2') }, lost: ['batch'] },
    {
      what: 'another issuer',
      before: { jwt: set('1') },
      after: { jwt: { ...set('1'), issuer: 'b' } },
      lost: ['batch'],
    },
    { what: 'one more authority', before: { clientCa: ca('a') }, after: { clientCa: ca('b') + ca('a') }, lost: [] },
    { what: 'another authority', before: { clientCa: ca('a') }, after: { clientCa: ca('b') }, lost: ['batch'] },
  ])('$what', ({ before = {}, after, lost }) => {
    expect(losers(before, after)).toEqual(lost);
  });

  it('is asked of connections only when an authority is gone', () => {
    const shrank = (before: string, after: string): boolean =>
      authoritiesShrank(configuration({ clientCa: before }), configuration({ clientCa: after }));
    expect([shrank(ca('a') + ca('b'), ca('b')), shrank(ca('a'), ca('a') + ca('b'))]).toEqual([true, false]);
  });
});
