import { type BrokerConfiguration, isSame } from '#libs/configuration';
import { Grants } from './grants.js';

/** Whether a caller that was let in for a merchant would not be let in the same way any more. */
export type AccessTest = (caller: string, merchant: string) => boolean;

/**
 * Those who follow sessions were let in before the change. A caller loses its streams when its policy is gone, or when
 * the credential by which it came may be: one of its tokens, or the trust behind its JSON Web Token or its certificate.
 * What was only added takes nothing away. A caller that loses a stream without need connects again at once.
 */
export function lostAccess(before: BrokerConfiguration, after: BrokerConfiguration): AccessTest {
  const grants = new Grants(after);
  const tokens = new Set(after.auth.tokens.map(({ sha256 }) => sha256));
  const lostToken = new Set(before.auth.tokens.filter(({ sha256 }) => !tokens.has(sha256)).map(({ caller }) => caller));
  const tokenCallers = new Set(before.auth.tokens.map(({ caller }) => caller));
  const trustShrank = hasLessTrust(before, after);
  return (caller, merchant) => {
    if (!grants.allows({ name: caller }, merchant, 'session:read') || lostToken.has(caller)) return true;
    return trustShrank && !tokenCallers.has(caller);
  };
}

function hasLessTrust(before: BrokerConfiguration, after: BrokerConfiguration): boolean {
  return issuerShrank(before.auth.jwt, after.auth.jwt) || authoritiesShrank(before, after);
}

type Jwt = BrokerConfiguration['auth']['jwt'];

function issuerShrank(before: Jwt, after: Jwt): boolean {
  if (before === undefined || isSame(before, after)) return false;
  if (after === undefined || before.keys.kind === 'uri' || after.keys.kind === 'uri') return true;
  const { keys, ...terms } = before;
  const { keys: nextKeys, ...nextTerms } = after;
  const stays = (key: object): boolean => nextKeys.set.keys.some((next) => isSame(key, next));
  return !isSame(terms, nextTerms) || !keys.set.keys.every(stays);
}

/** Whether an authority that vouched for callers' certificates is no longer trusted. */
export function authoritiesShrank(
  before: Pick<BrokerConfiguration, 'http'>,
  after: Pick<BrokerConfiguration, 'http'>,
): boolean {
  const next = new Set(authoritiesOf(after));
  return authoritiesOf(before).some((certificate) => !next.has(certificate));
}

function authoritiesOf({ http }: Pick<BrokerConfiguration, 'http'>): readonly string[] {
  const blocks = http.tls?.clientCa?.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => block.replace(/\s/g, ''));
}
