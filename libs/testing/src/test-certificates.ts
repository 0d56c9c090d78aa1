import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A certificate and its private key in PEM, as TLS servers accept them. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
  /** SHA-256 of the SubjectPublicKeyInfo, base64 (RFC 7469 section 2.4). */
  readonly spkiSha256: string;
}

interface CertificateWish {
  /** DNS names, IPv4 addresses and URIs that the certificate is for. */
  readonly names: readonly string[];
  /** The subject's common name; by default the first of the names. */
  readonly commonName?: string;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

/**
 * An authority made in memory for one test (X.509 version 3, ECDSA on P-256). Encoded in DER by hand, so that a clean
 * machine needs neither openssl nor a package for it.
 */
export class TestAuthority {
  readonly cert: string;
  readonly #name: Buffer;
  readonly #key: KeyObject;
  readonly #publicKey: KeyObject;

  constructor(name = 'Test Authority') {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#name = commonName(name);
    this.#key = privateKey;
    this.#publicKey = publicKey;
    this.cert = this.renewed();
  }

  /** Another certificate of the same authority: with its name and its key, but a new serial number. */
  renewed(): string {
    const extensions = [extension(OID.basicConstraints, sequence(BOOLEAN_TRUE), true)];
    return this.#sign({ subject: this.#name, publicKey: this.#publicKey, extensions, ...YEARS_AROUND });
  }

  issue({ names, commonName: subject, notBefore, notAfter }: CertificateWish): TestCertificate {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const cert = this.#sign({
      subject: commonName(subject ?? names[0] ?? 'nobody'),
      publicKey,
      extensions: names.length === 0 ? [] : [extension(OID.subjectAltName, sequence(...names.map(generalName)))],
      notBefore: notBefore ?? YEARS_AROUND.notBefore,
      notAfter: notAfter ?? YEARS_AROUND.notAfter,
    });
    const spki = publicKey.export({ type: 'spki', format: 'der' });
    return {
      cert,
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      spkiSha256: createHash('sha256').update(spki).digest('base64'),
    };
  }

  #sign({ subject, publicKey, extensions, notBefore, notAfter }: ToBeSigned): string {
    const body = sequence(
      der(0xa0, der(0x02, Buffer.of(2))),
      der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
      ECDSA_WITH_SHA256,
      this.#name,
      sequence(time(notBefore), time(notAfter)),
      subject,
      publicKey.export({ type: 'spki', format: 'der' }),
      der(0xa3, sequence(...extensions)),
    );
    const certificate = sequence(body, ECDSA_WITH_SHA256, bitString(sign('sha256', body, this.#key)));
    return `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`;
  }
}

interface ToBeSigned {
  readonly subject: Buffer;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly notBefore: Date;
  readonly notAfter: Date;
}

const YEARS_AROUND = { notBefore: new Date('2020-01-01T00:00:00Z'), notAfter: new Date('2049-01-01T00:00:00Z') };

/** Tag, length, content (X.690 section 8.1). */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  const octets = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...octets), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, Buffer.concat(parts));
const bitString = (bytes: Buffer): Buffer => der(0x03, Buffer.concat([Buffer.of(0), bytes]));
const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const BOOLEAN_TRUE = der(0x01, Buffer.of(0xff));

const OID = {
  commonName: objectId('550403'),
  basicConstraints: objectId('551d13'),
  subjectAltName: objectId('551d11'),
  ecdsaWithSha256: objectId('2a8648ce3d040302'),
} as const;
const ECDSA_WITH_SHA256 = sequence(OID.ecdsaWithSha256);

/** UTCTime, which is valid until 2049 (RFC 5280 section 4.1.2.5.1). */
const time = (at: Date): Buffer => {
  const digits = at.toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`, 'ascii'));
};

const commonName = (name: string): Buffer =>
  sequence(der(0x31, sequence(OID.commonName, der(0x0c, Buffer.from(name, 'utf8')))));

const extension = (id: Buffer, value: Buffer, critical = false): Buffer =>
  sequence(id, ...(critical ? [BOOLEAN_TRUE] : []), der(0x04, value));

const generalName = (name: string): Buffer => {
  if (/^\d+(?:\.\d+){3}$/.test(name)) return der(0x87, Buffer.from(name.split('.').map(Number)));
  return der(name.includes('://') ? 0x86 : 0x82, Buffer.from(name, 'ascii'));
};
