import { type Instant, msBetween, toRfc3339 } from '#libs/clock';
import { certificateLife, type CertificateLife, certificateState } from './certificate-life.js';
import type { Warning } from './fault.js';
import type { FileSetting } from './named-files.js';
import { pemCertificates } from './pem-certificates.js';

interface CertificateFiles {
  readonly files: readonly FileSetting[];
  /** By the paths of their settings, as far as they could be read. */
  readonly contents: ReadonlyMap<string, unknown>;
  readonly now: Instant;
}

const DAY_MS = 86_400_000;
const WARN_BELOW_DAYS = 14;

/**
 * Warns of certificates that have expired, soon will, or are not valid yet: once per content, where it is first named.
 */
export function certificateWarnings({ files, contents, now }: CertificateFiles): Warning[] {
  const seen = new Set<string>();
  return files.flatMap(({ path, content }) => {
    const pem = contents.get(path);
    if (content.kind !== 'certificates' || typeof pem !== 'string' || seen.has(pem)) return [];
    seen.add(pem);
    const life = path.endsWith('certFile') ? certificateLife(pem) : longestLife(pem);
    const problem = problemOf(life, now);
    return problem === undefined ? [] : [{ path, problem: `${problem}${ofReload(path, life, now)}` }];
  });
}

/** A file may hold an authority and its successor, and one that is valid is enough. */
function longestLife(pem: string): CertificateLife {
  const lives = pemCertificates(pem).map(certificateLife);
  return lives.reduce((longest, life) => (life.endsAt > longest.endsAt ? life : longest), certificateLife(pem));
}

/** The certificates that broker and egress present to callers. */
const SERVED = ['http.tls.certFile', 'egress.listen.tls.certFile'];

/** A start accepts what a reload would not: this is read by whoever looks into why a change was refused. */
function ofReload(path: string, life: CertificateLife, now: Instant): string {
  if (!SERVED.includes(path)) return '';
  const state = certificateState(life, now);
  if (state === 'expired') return '; a reload does not replace a valid one with it';
  return state === 'early' ? '; a reload does not replace a valid one with it before then' : '';
}

function problemOf(life: CertificateLife, now: Instant): string | undefined {
  const { startsAt, endsAt } = life;
  const state = certificateState(life, now);
  if (state === 'expired') {
    return `names a certificate that expired on ${toRfc3339(endsAt)}: connections that are verified by it fail; replace it now`;
  }
  if (state === 'early') {
    return `names a certificate that is not valid before ${toRfc3339(startsAt)}; replace it, or correct the clock of this machine`;
  }
  return msBetween(now, endsAt) < WARN_BELOW_DAYS * DAY_MS
    ? `names a certificate that expires on ${toRfc3339(endsAt)}, in less than ${WARN_BELOW_DAYS} days; replace it before then`
    : undefined;
}
