import { isIP } from 'node:net';
import type { Clock } from '#libs/clock';
import { type ExchangeEnd, portOf, speaksTls } from '#libs/outbound';
import { causeOf, leadsElsewhere, TLS_SPOKEN } from '#libs/session';
import type { ExitClass } from '../exit-codes.js';

/** Why there is no answer of a broker. */
export interface NoAnswer {
  /** In the words of the status page. */
  readonly problem: string;
  readonly fault: ExitClass;
}

interface Asked {
  readonly url: URL;
  /** Of one replica, where the name has several. */
  readonly address?: string;
}

interface Bounds {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const HANDSHAKE_LIMIT_MS = 5_000;
/** Several servers answer so on a port with TLS to one who speaks none; others hang up. */
const BAD_REQUEST = 400;

/** What ended an exchange with a broker. Where a request without TLS broke off, a handshake shows whether TLS is what is missing. */
export async function noAnswer(end: ExchangeEnd, asked: Asked, bounds: Bounds): Promise<NoAnswer> {
  const { kind, mark, wasReached } = end;
  const isCutOff = wasReached && (kind === 'broken_off' || kind === 'malformed');
  if (isCutOff && (await wantsTls(asked, bounds))) return tlsSpoken(asked);
  const failed = {
    kind: kind === 'untrusted' ? 'refused' : 'transient',
    trace: { mark, peer: peerOf(asked) },
  } as const;
  const known = leadsElsewhere(failed) ? 'invalidInput' : 'tryLater';
  return { problem: causeOf(failed).text, fault: kind === 'untrusted' ? 'refused' : known };
}

/** The same for an answer that a server gives in plain text on a port with TLS; undefined for every other answer. */
export async function plainRefusal(status: number, asked: Asked, bounds: Bounds): Promise<NoAnswer | undefined> {
  return status === BAD_REQUEST && (await wantsTls(asked, bounds)) ? tlsSpoken(asked) : undefined;
}

const tlsSpoken = (asked: Asked): NoAnswer => ({
  problem: causeOf({ kind: 'transient', trace: { mark: TLS_SPOKEN, peer: peerOf(asked) } }).text,
  fault: 'invalidInput',
});

async function wantsTls({ url, address = hostOf(url) }: Asked, bounds: Bounds): Promise<boolean> {
  if (url.protocol !== 'http:') return false;
  return speaksTls({ host: address, port: portOf(url) }, { ...bounds, limitMs: HANDSHAKE_LIMIT_MS });
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1');

function peerOf({ url, address = hostOf(url) }: Asked): string {
  return `${isIP(address) === 6 ? `[${address}]` : address}:${portOf(url)}`;
}
