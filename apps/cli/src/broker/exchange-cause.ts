import { isIP } from 'node:net';
import { type ExchangeEnd, hostOf, portOf } from '#libs/outbound';
import { causeOf, leadsElsewhere, TLS_SPOKEN } from '#libs/session';
import type { ExitClass } from '../exit-codes.js';
import { type Bounds, isTlsInstead } from '../tls-instead.js';

/** Why there is no answer of a broker. */
export interface NoAnswer {
  /** In the words of the status page. */
  readonly problem: string;
  readonly fault: ExitClass;
  /** Of a certificate that is not trusted: why, as OpenSSL says it. */
  readonly mark?: string;
  /** There was no connection, so that nothing was asked. */
  readonly isUnasked?: true;
}

interface Asked {
  readonly url: URL;
  /** Of one replica, where the name has several. */
  readonly address?: string;
}

/** What ended an exchange with a broker. Where a request without TLS broke off, a handshake shows whether TLS is what is missing. */
export async function noAnswer(end: ExchangeEnd, asked: Asked, bounds: Bounds): Promise<NoAnswer> {
  const { kind, mark, wasReached } = end;
  const isCutOff = wasReached && (kind === 'broken_off' || kind === 'malformed');
  const instead = await tlsInstead({ isCutOff }, asked, bounds);
  if (instead !== undefined) return instead;
  const failed = {
    kind: kind === 'untrusted' ? 'refused' : 'transient',
    trace: { mark, peer: peerOf(asked) },
  } as const;
  const known = leadsElsewhere(failed) ? 'invalidInput' : 'tryLater';
  return {
    problem: causeOf(failed).text,
    fault: kind === 'untrusted' ? 'refused' : known,
    ...(kind === 'untrusted' ? { mark } : {}),
    ...(wasReached ? {} : { isUnasked: true }),
  };
}

/** Why no broker is reached by an address with http where TLS is spoken at its port; undefined where none is. */
export async function tlsInstead(
  end: Parameters<typeof isTlsInstead>[0],
  asked: Asked,
  bounds: Bounds,
): Promise<NoAnswer | undefined> {
  const { url, address = hostOf(url) } = asked;
  if (url.protocol !== 'http:') return undefined;
  if (!(await isTlsInstead(end, { host: address, port: portOf(url) }, bounds))) return undefined;
  const { text } = causeOf({ kind: 'transient', trace: { mark: TLS_SPOKEN, peer: peerOf(asked) } });
  return { problem: text, fault: 'invalidInput' };
}

function peerOf({ url, address = hostOf(url) }: Asked): string {
  return `${isIP(address) === 6 ? `[${address}]` : address}:${portOf(url)}`;
}
