import { X509Certificate } from 'node:crypto';
import { type Instant, instantFromEpochMs, msBetween, toRfc3339 } from '#libs/clock';
import { ConfigurationError, type Warning } from './fault.js';
import type { FileSetting, NamedFile } from './named-files.js';

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

/** When a certificate is valid, and whether it is now. */
interface CertificateLife {
  readonly startsAt: Instant;
  readonly endsAt: Instant;
  readonly state: 'expired' | 'valid' | 'early';
}

/**
 * @param pem its first certificate counts: a server's own precedes those of its authorities (RFC 8446 section 4.4.2)
 */
function lifeOf(pem: string, now: Instant): CertificateLife {
  const { validFromDate, validToDate } = new X509Certificate(pem);
  const startsAt = instantFromEpochMs(validFromDate.getTime());
  const endsAt = instantFromEpochMs(validToDate.getTime());
  return { startsAt, endsAt, state: endsAt <= now ? 'expired' : startsAt > now ? 'early' : 'valid' };
}

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
  return files.flatMap(({ path, rule }) => {
    const pem = contents.get(path);
    if (rule.kind !== 'certificates' || typeof pem !== 'string' || seen.has(pem)) return [];
    seen.add(pem);
    const lives = (path.endsWith('certFile') ? [pem] : pemCertificates(pem)).map((each) => lifeOf(each, now));
    // A file may hold an authority and its successor, and one that is valid is enough.
    const problem = problemOf(
      lives.reduce((longest, life) => (life.endsAt > longest.endsAt ? life : longest)),
      now,
    );
    return problem === undefined ? [] : [{ path, problem }];
  });
}

function problemOf({ startsAt, endsAt, state }: CertificateLife, now: Instant): string | undefined {
  if (state === 'expired')
    return `names a certificate that expired on ${toRfc3339(endsAt)}: connections that are verified by it fail; replace it now`;
  if (state === 'early')
    return `names a certificate that is not valid before ${toRfc3339(startsAt)}; replace it, or correct the clock of this machine`;
  return msBetween(now, endsAt) < WARN_BELOW_DAYS * DAY_MS
    ? `names a certificate that expires on ${toRfc3339(endsAt)}, in less than ${WARN_BELOW_DAYS} days; replace it before then`
    : undefined;
}

/** The certificate that a server presents, before and after a change; PEM, if there is one. */
interface Replacement {
  /** The setting that names its file, such as `http.tls.certFile`. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** The files of the changed configuration. */
  readonly files: readonly NamedFile[];
  /** The warnings of the changed configuration: an unusable certificate has one, which knows the line. */
  readonly warnings: readonly Warning[];
  readonly now: Instant;
}

/** A changed configuration whose server certificate nobody would accept. */
export class UnusableCertificate extends ConfigurationError {
  /** When it can be accepted after all; absent if it has expired. */
  readonly usableFrom?: Instant;

  constructor({ path, files, warnings }: Replacement, { startsAt, endsAt, state }: CertificateLife) {
    const file = files.find((named) => named.path === path)?.file;
    const why =
      state === 'expired'
        ? `expired on ${toRfc3339(endsAt)}; the one in use goes on being served: give one that is valid`
        : `is not valid before ${toRfc3339(startsAt)}; the one in use goes on being served until then`;
    const problem = `names a certificate${file === undefined ? '' : ` (${file})`} that ${why}`;
    const line = warnings.find((warning) => warning.path === path)?.line;
    super([{ path, problem, ...(line !== undefined && { line }) }]);
    if (state === 'early') this.usableFrom = startsAt;
  }
}

/**
 * Everybody who verifies certificates rejects one that has expired, but would still have accepted the one in use.
 * @throws UnusableCertificate unless the one in use is no better
 */
export function assertCertificateUsable(replacement: Replacement): void {
  const { before, after, now } = replacement;
  if (before === undefined || after === undefined) return;
  const next = lifeOf(after, now);
  if (next.state !== 'valid' && lifeOf(before, now).state === 'valid') throw new UnusableCertificate(replacement, next);
}
