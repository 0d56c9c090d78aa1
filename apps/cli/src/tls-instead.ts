import type { Clock } from '#libs/clock';
import { speaksTls } from '#libs/outbound';

export interface Bounds {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly limitMs?: number;
}

/** How an exchange without TLS ended: with an answer, or without one. */
type PlainEnd =
  | { readonly httpStatus: number }
  /** There was a connection, but it broke off or carried something unreadable. */
  | { readonly isCutOff: boolean };

interface Place {
  readonly host: string;
  readonly port: number;
}

const HANDSHAKE_LIMIT_MS = 5_000;
/** What some servers answer in plain text to a client that does not speak TLS; others hang up. */
const BAD_REQUEST = 400;

/**
 * Whether an exchange without TLS ended as it did because the port speaks TLS. Only a handshake is sent to find out.
 */
export async function isTlsInstead(end: PlainEnd, place: Place, bounds: Bounds): Promise<boolean> {
  const mayBe = 'httpStatus' in end ? end.httpStatus === BAD_REQUEST : end.isCutOff;
  return mayBe && (await speaksTls(place, { limitMs: HANDSHAKE_LIMIT_MS, ...bounds }));
}
