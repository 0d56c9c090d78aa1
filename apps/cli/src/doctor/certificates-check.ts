import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, normalize, resolve } from 'node:path';
import { type Instant, instantFromEpochMs, msBetween, toRfc3339 } from '#libs/clock';
import { type NamedFile, pemCertificates } from '#libs/configuration';
import { type Check, fact, fault, type Finding, looked, warning } from './check.js';

const DAY_MS = 86_400_000;
const WARN_BELOW_DAYS = 30;

/** How long a certificate is still valid, as a finding. It gives dates and whole days, never times of day. */
export function lifeOf(what: string, endsAt: Instant, now: Instant): Finding {
  const leftDays = Math.floor(msBetween(now, endsAt) / DAY_MS);
  const end = toRfc3339(endsAt).slice(0, 10);
  if (endsAt <= now) return fault('invalidInput', `${what} ended on ${end}`, 'replace it');
  return leftDays < WARN_BELOW_DAYS
    ? warning(`${what} ends on ${end}, in ${leftDays} ${leftDays === 1 ? 'day' : 'days'}`, 'replace it before then')
    : fact(`${what} ends on ${end}`);
}

/** Our own certificates and the authorities that we trust, each file once: several settings often name the same one. */
export function certificatesCheck(configuration: string, named: readonly NamedFile[], now: () => Instant): Check {
  return {
    name: 'certificates',
    limitMs: 5_000,
    run: async () => {
      const findings: Finding[] = [];
      for (const [file, settings] of Map.groupBy(named, (each) => normalize(each.file))) {
        const pem = await readFile(resolve(dirname(resolve(configuration)), file), 'utf8');
        const paths = settings.map(({ path }) => path);
        for (const [index, each] of pemCertificates(pem).entries())
          findings.push(...findingsOn(new X509Certificate(each), { paths, index, now: now() }));
      }
      return looked(findings);
    },
  };
}

interface Position {
  readonly paths: readonly string[];
  readonly index: number;
  readonly now: Instant;
}

function findingsOn(certificate: X509Certificate, { paths, index, now }: Position): readonly Finding[] {
  // A thousand merchants may name the authority of one gateway.
  const others = paths.length > 2 ? `, and ${paths.length - 2} more` : '';
  const what = `${paths.slice(0, 2).join(' and ')}${others}: certificate ${index + 1}`;
  const isEarly = certificate.validFromDate.getTime() > now;
  const isAuthority = paths.some((path) => /ca\w*File$/i.test(path));
  return [
    lifeOf(what, instantFromEpochMs(certificate.validToDate.getTime()), now),
    ...(isEarly ? [fault('invalidInput', `${what} is not valid yet`, 'compare the clock of this machine')] : []),
    ...(isAuthority && !certificate.ca
      ? [warning(`${what} is not that of an authority`, 'give that of the authority that has signed the other one')]
      : []),
  ];
}
