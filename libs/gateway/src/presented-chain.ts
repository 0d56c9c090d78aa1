import { isIP } from 'node:net';
import { connect as connectTls, type DetailedPeerCertificate, type TLSSocket } from 'node:tls';
import { type Instant, instantFromEpochMs } from '#libs/clock';
import { pinOf, trustOptions } from '#libs/outbound';
import { entryPointOf } from './entry-point.js';
import { type Bounds, opened } from './gateway-reach.js';
import type { GatewayPlace } from './merchant-gateway.js';

/**
 * A presented certificate, whoever issued it: its names are as the issuer wrote them, printable and of limited length.
 */
export interface PresentedCertificate {
  readonly subject: string;
  readonly issuer: string;
  readonly beginsAt: Instant;
  readonly endsAt: Instant;
  /** In the form of the setting `tls.pins`. */
  readonly pin: string;
}

const MAX_NAME_LENGTH = 120;
/** A malicious server could send an endless chain. */
const MAX_CHAIN = 10;

/**
 * The chain that the server presents, trusted or not: for a person who looks for what changed, never to be relied on.
 * Nothing is sent.
 * @throws GatewayFailure when there is no handshake at all
 */
export async function presentedChain(gateway: GatewayPlace, bounds: Bounds): Promise<readonly PresentedCertificate[]> {
  const entry = entryPointOf(gateway);
  const { host, port } = entry;
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const anyone = { rejectUnauthorized: false, checkServerIdentity: () => undefined };
  const socket = connectTls({ host, port, ...servername, ...trustOptions(gateway.tls), ...anyone });
  const look = (): readonly PresentedCertificate[] => chainOf(socket);
  return opened({ entry, socket, event: 'secureConnect', look }, { ...bounds, timeoutMs: gateway.timeoutMs });
}

function chainOf(socket: TLSSocket): readonly PresentedCertificate[] {
  const chain: PresentedCertificate[] = [];
  const seen = new Set<string>();
  let certificate: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
  while (certificate?.raw !== undefined && !seen.has(certificate.fingerprint256) && chain.length < MAX_CHAIN) {
    seen.add(certificate.fingerprint256);
    chain.push({
      subject: nameOf(certificate.subject),
      issuer: nameOf(certificate.issuer),
      beginsAt: instantFromEpochMs(Date.parse(certificate.valid_from)),
      endsAt: instantFromEpochMs(Date.parse(certificate.valid_to)),
      pin: pinOf(certificate.raw),
    });
    certificate = certificate.issuerCertificate;
  }
  return chain;
}

function nameOf(name: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(name).map(([type, value]) => `${type}=${String(value)}`);
  return parts
    .join(', ')
    .replaceAll(/[^\p{L}\p{N}\p{P} =+]/gu, '?')
    .slice(0, MAX_NAME_LENGTH);
}
