import { isIP } from 'node:net';
import { leadsElsewhere, toldCall } from '#libs/causes';
import type { Clock } from '#libs/clock';
import { type ExchangeEnd, hostOf, portOf, speaksTls } from '#libs/outbound';
import { TLS_SPOKEN } from '#libs/session';
import type { ExitClass } from '../exit-codes.js';

interface Bounds {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const HANDSHAKE_LIMIT_MS = 5_000;

/** One address at which a broker may answer: a name with several addresses leads to one replica each. */
export interface ReplicaPlace {
  readonly url: URL;
  readonly address?: string;
}

/** Why a broker did not answer. */
export interface NoAnswer {
  readonly kind: 'unreachable' | 'untrusted' | 'wrong_address' | 'cut_off' | 'silent';
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
  const mark = isCutOff && (await wantsTls(place, bounds)) ? TLS_SPOKEN : end.mark;
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

/** Only a handshake is sent to find out. */
async function wantsTls({ url, address = hostOf(url) }: ReplicaPlace, bounds: Bounds): Promise<boolean> {
  const place = { host: address, port: portOf(url) };
  return url.protocol === 'http:' && speaksTls(place, { limitMs: HANDSHAKE_LIMIT_MS, ...bounds });
}

const peerOf = ({ url, address = hostOf(url) }: ReplicaPlace): string =>
  `${isIP(address) === 6 ? `[${address}]` : address}:${portOf(url)}`;
