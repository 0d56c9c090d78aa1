import { hash, X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { type DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { type Clock, type Instant, instantFromEpochMs } from '#libs/clock';
import { isCallerName, pemCertificates } from '#libs/configuration';

/** What the certificate of a connection says of its client. */
interface ClientCertificate {
  /** Whom it names, if anybody. */
  readonly name: string | undefined;
  /** When the certificate ends. */
  readonly validUntil: Instant;
  /** Its thumbprint, as in `x5t#S256` of RFC 8705. */
  readonly certificate: string;
}

/** Identifies callers by the certificate of the connection, which is inspected once per connection. */
export class CertificateCallers {
  readonly #clock: Clock;
  readonly #authorities: readonly X509Certificate[] | undefined;
  readonly #known = new WeakMap<Socket, ClientCertificate | undefined>();

  /**
   * @param authorities PEM of those that are trusted now; a connection may have begun when there were others. Absent:
   * those that the connection began with.
   */
  constructor(clock: Clock, authorities?: string) {
    this.#clock = clock;
    const blocks = authorities === undefined ? undefined : pemCertificates(authorities);
    this.#authorities = blocks?.map((block) => new X509Certificate(block));
  }

  /** @returns undefined without a certificate, and for one that no configured authority vouches for at the moment */
  find(socket: Socket): ClientCertificate | undefined {
    if (!this.#known.has(socket)) this.#known.set(socket, this.#certificateOf(socket));
    const known = this.#known.get(socket);
    return known !== undefined && known.validUntil > this.#clock.now() ? known : undefined;
  }

  /** Whether a certificate was presented, valid or not. */
  isPresented(socket: Socket): boolean {
    return socket instanceof TLSSocket && socket.getPeerX509Certificate() !== undefined;
  }

  #certificateOf(socket: Socket): ClientCertificate | undefined {
    if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
    const certificate = socket.getPeerX509Certificate();
    if (certificate === undefined || !this.#isVouchedFor(socket)) return undefined;
    return {
      name: nameOf(certificate),
      certificate: hash('sha256', certificate.raw, 'base64url'),
      validUntil: instantFromEpochMs(Date.parse(certificate.validTo)),
    };
  }

  #isVouchedFor(socket: TLSSocket): boolean {
    const authorities = this.#authorities;
    if (authorities === undefined) return true;
    return chainOf(socket).some((certificate) => authorities.some((authority) => isFrom(certificate, authority)));
  }
}

/** The certificate and those that vouch for it, as far as they were sent or known to the handshake. */
function chainOf(socket: TLSSocket): readonly X509Certificate[] {
  const chain = new Map<string, X509Certificate>();
  let certificate: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  // The last one vouches for itself.
  while (certificate !== undefined && !chain.has(certificate.fingerprint256)) {
    chain.set(certificate.fingerprint256, new X509Certificate(certificate.raw));
    certificate = certificate.issuerCertificate;
  }
  return [...chain.values()];
}

/** Compares the authority's name and key: its certificate may have been replaced in the meantime. */
function isFrom(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

/**
 * The first URI of the subject's alternative names (a SPIFFE id is one); without any, the first DNS name; without
 * either, the common name. A name that no caller can have identifies nobody, and no other name takes its place: an
 * authority that writes URIs means them, and may leave the rest to whoever requests the certificate.
 */
export function nameOf(certificate: Pick<X509Certificate, 'subjectAltName' | 'subject'>): string | undefined {
  // Node puts names with odd characters in quotes and escapes their commas, so that none can look like two.
  const alternatives = (certificate.subjectAltName ?? '').split(', ');
  const commonNames = certificate.subject.split('\n');
  const name = withPrefix(alternatives, 'URI:') ?? withPrefix(alternatives, 'DNS:') ?? withPrefix(commonNames, 'CN=');
  return name !== undefined && isCallerName(name) ? name : undefined;
}

function withPrefix(names: readonly string[], prefix: string): string | undefined {
  return names.find((name) => name.startsWith(prefix))?.slice(prefix.length);
}
