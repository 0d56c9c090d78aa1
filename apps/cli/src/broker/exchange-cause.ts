import { isIP } from 'node:net';
import { BAD_PORT, type ExchangeEnd, hostOf, portOf } from '#libs/outbound';
import { causeOf, leadsElsewhere, TLS_SPOKEN } from '#libs/session';
import type { ExitClass } from '../exit-codes.js';
import { type Bounds, isTlsInstead } from '../tls-instead.js';

/** Codes for what only the asking side knows. A contract with scripts: docs/command-line-json.md has the same list. */
export const askFaultCodes = {
  /** There was no connection. */
  unreachable: 'broker_unreachable',
  untrusted: 'certificate_untrusted',
  /** There is no broker API at the address, or what is there does not speak the URL's scheme. */
  wrongAddress: 'wrong_address',
  /** There was a connection but no answer. */
  silent: 'no_answer',
  /** An answer from something else in the broker's place, such as a proxy. */
  unexpected: 'unexpected_answer',
  noMerchant: 'no_merchant_readable',
} as const;

/** Why a broker did not answer. */
export interface NoAnswer {
  readonly code: (typeof askFaultCodes)[keyof typeof askFaultCodes];
  /** In the words of the status page. */
  readonly problem: string;
  readonly fault: ExitClass;
  /** For an untrusted certificate: why, as OpenSSL puts it. For a port that no request is sent to: `BAD_PORT`. */
  readonly mark?: string;
  /** The other end accepted the connection and hung up, or spoke something other than HTTP. */
  readonly isCutOff?: true;
  /** The other end accepted the connection, but has said nothing. */
  readonly isHung?: true;
  /** There was no connection, so nothing was asked. */
  readonly isUnasked?: true;
}

interface Asked {
  readonly url: URL;
  /** The address of one replica, if the name has several. */
  readonly address?: string;
}

/**
 * What ended an exchange with a broker. If a request without TLS broke off, a handshake shows whether TLS was missing.
 */
export async function noAnswer(end: ExchangeEnd, asked: Asked, bounds: Bounds): Promise<NoAnswer> {
  const { kind, mark, wasReached } = end;
  const isCutOff = wasReached && (kind === 'broken_off' || kind === 'malformed');
  const instead = await tlsInstead({ isCutOff }, asked, bounds);
  if (instead !== undefined) return instead;
  const failed = {
    kind: kind === 'untrusted' ? 'refused' : 'transient',
    trace: { mark, peer: peerOf(asked) },
  } as const;
  const problem = causeOf(failed).text;
  if (kind === 'untrusted') return { problem, code: askFaultCodes.untrusted, fault: 'refused', mark };
  if (leadsElsewhere(failed)) {
    const isBadPort = mark === BAD_PORT;
    return { problem, code: askFaultCodes.wrongAddress, fault: 'invalidInput', ...(isBadPort ? { mark } : {}) };
  }
  return wasReached
    ? { problem, code: askFaultCodes.silent, fault: 'tryLater', ...(isCutOff ? { isCutOff: true } : {}) }
    : { problem, code: askFaultCodes.unreachable, fault: 'tryLater', isUnasked: true };
}

/** For when something accepts the connection but does not answer TLS. */
export function noHandshake(asked: Asked): NoAnswer {
  const problem = `${peerOf(asked)} takes the connection, and answers no TLS handshake`;
  return { problem, code: askFaultCodes.silent, fault: 'tryLater', isHung: true, isUnasked: true };
}

/** Why an http address does not reach the broker, if TLS is spoken at its port; undefined if it is not. */
export async function tlsInstead(
  end: Parameters<typeof isTlsInstead>[0],
  asked: Asked,
  bounds: Bounds,
): Promise<NoAnswer | undefined> {
  const { url, address = hostOf(url) } = asked;
  if (url.protocol !== 'http:') return undefined;
  if (!(await isTlsInstead(end, { host: address, port: portOf(url) }, bounds))) return undefined;
  const { text } = causeOf({ kind: 'transient', trace: { mark: TLS_SPOKEN, peer: peerOf(asked) } });
  return { problem: text, code: askFaultCodes.wrongAddress, fault: 'invalidInput' };
}

function peerOf({ url, address = hostOf(url) }: Asked): string {
  return `${isIP(address) === 6 ? `[${address}]` : address}:${portOf(url)}`;
}
