import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, normalize, resolve } from 'node:path';
import { instantFromEpochMs, type Instant } from '#libs/clock';
import { type NamedFile, pemCertificates } from '#libs/configuration';
import { lifeOf } from '../certificate-life.js';
import { type Check, fault, type Finding, looked, notApplicable, warning } from '../check.js';

interface CertificatesToCheck {
  readonly file: string;
  readonly named: readonly NamedFile[];
  /** Includes those at fault, such as a key that does not belong to its certificate. */
  readonly keys?: readonly NamedFile[];
  readonly now: () => Instant;
}

/**
 * Our own certificates and the authorities that we trust: when they expire, and whether certificate and key belong
 * together.
 */
export function certificatesCheck({ file, named, keys = named, now }: CertificatesToCheck): Check {
  return {
    name: 'certificates',
    needs: ['configuration'],
    limitMs: 5_000,
    run: async () => {
      const certificates = named.filter(({ content }) => content === 'certificates');
      if (certificates.length === 0) return notApplicable('the configuration names no certificates');
      const read = (each: NamedFile): Promise<string> => readFile(resolve(dirname(resolve(file)), each.file), 'utf8');
      const findings: Finding[] = [];
      for (const settings of byFile(certificates)) {
        const chain = pemCertificates(await read(settings[0])).map((pem) => new X509Certificate(pem));
        findings.push(
          ...chain.flatMap((certificate, index) => findingsOn(certificate, { settings, index, now: now() })),
        );
        for (const { path } of settings) {
          const keyFile = keys.find(
            (other) => other.path !== path && other.path === path.replace(/certFile$/, 'keyFile'),
          );
          if (keyFile === undefined || chain[0] === undefined) continue;
          const pem = named.includes(keyFile) ? await read(keyFile) : await ifReadable(read(keyFile));
          findings.push(...(pem === undefined ? [] : pairFindings(path, chain[0], pem)));
        }
      }
      return looked(findings);
    },
  };
}

type Naming = readonly [NamedFile, ...NamedFile[]];

/** Several settings often name the same authority: each file is reported only once. */
function byFile(certificates: readonly NamedFile[]): readonly Naming[] {
  const settings = new Map<string, Naming>();
  for (const each of certificates) {
    const file = normalize(each.file);
    const known = settings.get(file);
    settings.set(file, known === undefined ? [each] : [...known, each]);
  }
  return [...settings.values()];
}

interface Position {
  readonly settings: readonly NamedFile[];
  readonly index: number;
  readonly now: Instant;
}

function findingsOn(certificate: X509Certificate, { settings, index, now }: Position): readonly Finding[] {
  const what = `${namesOf(settings)}: certificate ${index + 1}`;
  const startsAt = certificate.validFromDate.getTime();
  const isAuthority = settings.some(({ path }) => /ca\w*File$/i.test(path));
  return [
    lifeOf(what, instantFromEpochMs(certificate.validToDate.getTime()), now),
    ...(startsAt > now ? [fault('invalidInput', `${what} is not valid yet`, 'compare the clock of this machine')] : []),
    ...(isAuthority && !certificate.ca
      ? [
          warning(
            `${what} is not that of an authority`,
            'give the certificate of the authority that has signed the other one',
          ),
        ]
      : []),
  ];
}

/** A thousand merchants may name the authority of one gateway. */
function namesOf([first, second, ...others]: readonly NamedFile[]): string {
  const names = [first, second].flatMap((each) => (each === undefined ? [] : [each.path])).join(' and ');
  return others.length === 0 ? names : `${names}, and ${others.length} more`;
}

function pairFindings(path: string, certificate: X509Certificate, pem: string): readonly Finding[] {
  const key = privateKeyIn(pem);
  if (key === undefined) {
    return [fault('invalidInput', `${path}: the key beside it cannot be read`, 'give a PEM key without a passphrase')];
  }
  return certificate.checkPrivateKey(key)
    ? []
    : [fault('invalidInput', `${path}: the certificate is not that of the key beside it`, 'give the two of one pair')];
}

/** The configuration check reports a missing file. */
async function ifReadable(reading: Promise<string>): Promise<string | undefined> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}

function privateKeyIn(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    // OpenSSL's own reasons help nobody here, and what it says about a key is better not repeated.
    return undefined;
  }
}
