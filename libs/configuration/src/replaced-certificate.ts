import { type Instant, toRfc3339 } from '#libs/clock';
import { certificateLife, type CertificateLife, type CertificateState, certificateState } from './certificate-life.js';
import { ConfigurationError, type Warning } from './fault.js';
import type { NamedFile } from './named-files.js';

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

  constructor(
    replacement: Pick<Replacement, 'path' | 'files' | 'warnings'>,
    { startsAt, endsAt, state }: UnusableLife,
  ) {
    const { path, files, warnings } = replacement;
    const file = files.find((named) => named.path === path)?.file;
    const name = file === undefined ? '' : ` (${file})`;
    const problem =
      state === 'expired'
        ? `names a certificate${name} that expired on ${toRfc3339(endsAt)}; the one in use goes on being served: give one that is valid`
        : `names a certificate${name} that is not valid before ${toRfc3339(startsAt)}; the one in use goes on being served until then`;
    const line = warnings.find((warning) => warning.path === path)?.line;
    super([{ path, problem, ...(line === undefined ? {} : { line }) }]);
    if (state === 'early') this.usableFrom = startsAt;
  }
}

type UnusableLife = CertificateLife & { readonly state: Exclude<CertificateState, 'valid'> };

/**
 * Everybody who verifies certificates rejects one that has expired, but would still have accepted the one in use.
 * @throws UnusableCertificate unless the one in use is no better
 */
export function assertCertificateUsable({ before, after, now, ...named }: Replacement): void {
  if (before === undefined || after === undefined) return;
  const state = certificateState(certificateLife(before), now);
  const life = certificateLife(after);
  const next = certificateState(life, now);
  if (state === 'valid' && next !== 'valid') throw new UnusableCertificate(named, { ...life, state: next });
}
