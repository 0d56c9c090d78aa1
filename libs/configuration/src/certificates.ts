import { X509Certificate } from 'node:crypto';
import { type Instant, instantFromEpochMs, msBetween, toRfc3339 } from '#libs/clock';
import { ConfigurationError, type Fault } from './fault.js';
import type { FileSetting } from './named-files.js';

/** @returns the certificates of a PEM file, one by one, each with its lines as they are in the file */
export function pemCertificates(pem: string): readonly string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
}

/** @param pem one certificate */
export function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    // OpenSSL's own reasons do not help here: what does not parse is damaged.
    return false;
  }
}

/** `setting`: a path such as `http.tls.certFile`. `endsAt`: of several authorities in one file, that of the last. */
export interface CertificateEnd {
  readonly setting: string;
  readonly endsAt: Instant;
}

interface CertificateFiles {
  readonly files: readonly FileSetting[];
  /** By the paths of their settings, as far as they could be read. */
  readonly contents: ReadonlyMap<string, unknown>;
  readonly now: Instant;
}

/** Whether a certificate is valid; if it is not, or not for long, also what to say of the file that holds it. */
interface Judged {
  readonly endsAt: Instant;
  readonly isValid: boolean;
  readonly problem?: string;
}

const DAY_MS = 86_400_000;
const WARN_BELOW_DAYS = 14;

/**
 * @param pem its first certificate counts: a server's own precedes those of its authorities (RFC 8446 section 4.4.2)
 */
function judged(pem: string, now: Instant): Judged {
  const certificate = new X509Certificate(pem);
  const startsAt = instantFromEpochMs(certificate.validFromDate.getTime());
  const endsAt = instantFromEpochMs(certificate.validToDate.getTime());
  const wrong = (isValid: boolean, what: string): Judged => ({
    endsAt,
    isValid,
    problem: `names a certificate that ${what}`,
  });
  if (endsAt <= now)
    return wrong(false, `expired on ${toRfc3339(endsAt)}: connections that are verified by it fail; replace it now`);
  if (startsAt > now)
    return wrong(false, `is not valid before ${toRfc3339(startsAt)}; replace it, or correct the clock of this machine`);
  return msBetween(now, endsAt) < WARN_BELOW_DAYS * DAY_MS
    ? wrong(true, `expires on ${toRfc3339(endsAt)}, in less than ${WARN_BELOW_DAYS} days; replace it before then`)
    : { endsAt, isValid: true };
}

/**
 * The certificates of all files, once per content, where it is first named; `warnings` are of those that have expired,
 * soon will, or are not valid yet.
 */
export function certificatesIn({ files, contents, now }: CertificateFiles): {
  readonly certificates: readonly CertificateEnd[];
  readonly warnings: readonly Fault[];
} {
  const seen = new Set<string>();
  const found = files.flatMap(({ path, rule }) => {
    const pem = contents.get(path);
    if (rule.kind !== 'certificates' || typeof pem !== 'string' || seen.has(pem)) return [];
    seen.add(pem);
    const all = (path.endsWith('certFile') ? [pem] : pemCertificates(pem)).map((each) => judged(each, now));
    // A file may hold an authority and its successor, and one that is valid is enough.
    const [last] = all.sort((one, other) => other.endsAt - one.endsAt);
    return last === undefined ? [] : [{ path, ...last }];
  });
  return {
    certificates: found.map(({ path, endsAt }) => ({ setting: path, endsAt })),
    warnings: found.flatMap(({ path, problem }) => (problem === undefined ? [] : [{ path, problem }])),
  };
}

/** The certificate that a server presents, before and after a change; PEM, if there is one. */
interface Replacement {
  /** The setting that names its file, such as `http.tls.certFile`. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** Of the changed configuration: an unusable certificate has one, with its line. */
  readonly warnings: readonly Fault[];
  readonly now: Instant;
}

/**
 * Everybody who verifies certificates rejects one that is not valid, but would still have accepted the one in use.
 * @throws ConfigurationError unless the one in use is no better
 */
export function assertCertificateUsable({ path, before, after, warnings, now }: Replacement): void {
  if (before === undefined || after === undefined) return;
  const { isValid, problem = '' } = judged(after, now);
  if (isValid || !judged(before, now).isValid) return;
  throw new ConfigurationError([warnings.find((warning) => warning.path === path) ?? { path, problem }]);
}
