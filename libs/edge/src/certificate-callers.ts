import type { X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type Clock, type Instant, instantFromEpochMs } from '#libs/clock';
import { isCallerName } from '#libs/configuration';

export interface CertifiedCaller {
  readonly name: string;
  /** When the certificate ends. */
  readonly validUntil: Instant;
}

/** Tells who calls by the certificate of the connection, which is looked at once per connection. */
export class CertificateCallers {
  readonly #clock: Clock;
  readonly #known = new WeakMap<Socket, CertifiedCaller | 'nobody'>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @returns undefined without a certificate, and for one that no configured authority vouches for at the moment */
  find(socket: Socket): CertifiedCaller | undefined {
    const known = this.#known.get(socket) ?? callerOf(socket);
    this.#known.set(socket, known);
    if (known === 'nobody') return undefined;
    return known.validUntil > this.#clock.now() ? known : undefined;
  }

  /** Whether one was presented, good or not. */
  isPresented(socket: Socket): boolean {
    return socket instanceof TLSSocket && socket.getPeerX509Certificate() !== undefined;
  }
}

function callerOf(socket: Socket): CertifiedCaller | 'nobody' {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return 'nobody';
  const certificate = socket.getPeerX509Certificate();
  const name = certificate === undefined ? undefined : nameOf(certificate);
  if (certificate === undefined || name === undefined) return 'nobody';
  return { name, validUntil: instantFromEpochMs(Date.parse(certificate.validTo)) };
}

/**
 * The first URI of the subject's alternative names (a SPIFFE id is one), else the first DNS name, else the common name.
 * Names with characters that no caller's name has are passed over: Node puts them in quotes, so that none of them can
 * look like two.
 */
export function nameOf(certificate: Pick<X509Certificate, 'subjectAltName' | 'subject'>): string | undefined {
  const alternatives = (certificate.subjectAltName ?? '').split(', ');
  const commonNames = certificate.subject.split('\n');
  const candidates = [
    ...withPrefix(alternatives, 'URI:'),
    ...withPrefix(alternatives, 'DNS:'),
    ...withPrefix(commonNames, 'CN='),
  ];
  return candidates.find((name) => isCallerName(name));
}

function withPrefix(names: readonly string[], prefix: string): string[] {
  return names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
}
