import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { instantFromEpochMs, type Instant } from '#libs/clock';
import { type NamedFile, pemCertificates } from '#libs/configuration';
import { lifeOf } from '../certificate-life.js';
import { type Check, fault, type Finding, looked, notApplicable, warning } from '../check.js';

interface CertificatesToCheck {
  readonly file: string;
  readonly named: readonly NamedFile[];
  readonly now: () => Instant;
}

/** Our own certificates and the authorities that we trust: their ends, and whether certificate and key belong together. */
export function certificatesCheck({ file, named, now }: CertificatesToCheck): Check {
  return {
    name: 'certificates',
    needs: ['configuration'],
    limitMs: 5_000,
    run: async () => {
      const certificates = named.filter(({ content }) => content === 'certificates');
      if (certificates.length === 0) return notApplicable('the configuration names no certificates');
      const read = (each: NamedFile): Promise<string> => readFile(resolve(dirname(resolve(file)), each.file), 'utf8');
      const findings: Finding[] = [];
      for (const each of certificates) {
        const chain = pemCertificates(await read(each)).map((pem) => new X509Certificate(pem));
        findings.push(...chain.flatMap((certificate, index) => findingsOn(certificate, { each, index, now: now() })));
        const keyFile = named.find(({ path }) => path === each.path.replace(/certFile$/, 'keyFile'));
        if (keyFile !== undefined && keyFile !== each && chain[0] !== undefined) {
          findings.push(...pairFindings(each.path, chain[0], await read(keyFile)));
        }
      }
      return looked(findings);
    },
  };
}

interface Position {
  readonly each: NamedFile;
  readonly index: number;
  readonly now: Instant;
}

function findingsOn(certificate: X509Certificate, { each, index, now }: Position): readonly Finding[] {
  const what = `${each.path}: certificate ${index + 1}`;
  const startsAt = certificate.validFromDate.getTime();
  const isAuthority = /ca\w*File$/i.test(each.path);
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

function pairFindings(path: string, certificate: X509Certificate, pem: string): readonly Finding[] {
  const key = privateKeyIn(pem);
  if (key === undefined) {
    return [fault('invalidInput', `${path}: the key beside it cannot be read`, 'give a PEM key without a passphrase')];
  }
  return certificate.checkPrivateKey(key)
    ? []
    : [fault('invalidInput', `${path}: the certificate is not that of the key beside it`, 'give the two of one pair')];
}

function privateKeyIn(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    // OpenSSL's own reasons help nobody here, and what it says about a key is better not repeated.
    return undefined;
  }
}
