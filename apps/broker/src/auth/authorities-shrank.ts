import { type BrokerConfiguration, pemCertificates } from '#libs/configuration';

/** Whether an authority that issued callers' certificates is no longer trusted. */
export function authoritiesShrank(
  before: Pick<BrokerConfiguration, 'http'>,
  after: Pick<BrokerConfiguration, 'http'>,
): boolean {
  const next = new Set(authoritiesOf(after));
  return authoritiesOf(before).some((certificate) => !next.has(certificate));
}

function authoritiesOf({ http }: Pick<BrokerConfiguration, 'http'>): readonly string[] {
  return pemCertificates(http.tls?.clientCa ?? '').map((block) => block.replace(/\s/g, ''));
}
