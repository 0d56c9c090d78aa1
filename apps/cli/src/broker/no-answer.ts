import { isIP } from 'node:net';
import { leadsElsewhere, toldCall } from '#libs/causes';
import { type ExchangeEnd, hostOf, portOf } from '#libs/outbound';
import { TLS_SPOKEN } from '#libs/session';
import type { ExitClass } from '../exit-codes.js';
import { type Bounds, isTlsInstead } from '../tls-instead.js';

/** One address at which a broker may answer: a name with several addresses leads to one replica each. */
export interface ReplicaPlace {
  readonly url: URL;
  readonly address?: string;
}

/** Why a broker did not answer. */
export interface NoAnswer {
  readonly kind: 'unreachable' | 'untrusted' | 'wrong_address' | 'cut_off' | 'silent' | 'no_handshake';
  /** In the words of the status page. */
  readonly problem: string;
  readonly fault: ExitClass;
  /** For an untrusted certificate: why, as OpenSSL puts it. */
  readonly mark?: string;
}

/**
 * What ended an exchange with a broker. If a request without TLS broke off, a handshake shows whether TLS was missing.
 */
export async function noAnswer(end: ExchangeEnd, place: ReplicaPlace, bounds: Bounds): Promise<NoAnswer> {
  const { kind, wasReached } = end;
  const isCutOff = wasReached && (kind === 'broken_off' || kind === 'malformed');
  const mark = isCutOff && (await speaksTls(place, bounds)) ? TLS_SPOKEN : end.mark;
  const failed = {
    kind: kind === 'untrusted' ? 'refused' : 'transient',
    trace: { mark, peer: peerOf(place) },
  } as const;
  const problem = toldCall(failed).text;
  if (kind === 'untrusted') return { kind, problem, fault: 'refused', mark };
  if (leadsElsewhere(failed)) return { kind: 'wrong_address', problem, fault: 'invalidInput' };
  const reached = isCutOff ? 'cut_off' : 'silent';
  return { kind: wasReached ? reached : 'unreachable', problem, fault: 'tryLater' };
}

/** For when something accepts the connection but does not answer TLS. */
export const noHandshake = (place: ReplicaPlace): NoAnswer => ({
  kind: 'no_handshake',
  problem: `${peerOf(place)} takes the connection, and answers no TLS handshake`,
  fault: 'tryLater',
});

async function speaksTls({ url, address = hostOf(url) }: ReplicaPlace, bounds: Bounds): Promise<boolean> {
  return url.protocol === 'http:' && isTlsInstead({ isCutOff: true }, { host: address, port: portOf(url) }, bounds);
}

const peerOf = ({ url, address = hostOf(url) }: ReplicaPlace): string =>
  `${isIP(address) === 6 ? `[${address}]` : address}:${portOf(url)}`;
