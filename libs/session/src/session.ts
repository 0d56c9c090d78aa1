import type { Instant } from '#libs/clock';

/** A public P-384 key as the gateway gives it in a session: exactly these four members. */
export interface ServerPublicKey {
  readonly kty: 'EC';
  readonly crv: 'P-384';
  readonly x: string;
  readonly y: string;
}

/**
 * A technical session of a merchant: one versioned unit, immutable. Token, device, server key, expiry and generation
 * travel together everywhere, because a token of one generation with the key of another breaks a payment.
 */
export interface Session {
  readonly merchant: string;
  /** Only grows per merchant, even across restarts, replicas and a wiped store. "Newer" is judged by nothing else. */
  readonly generation: number;
  readonly authToken: string;
  readonly deviceId: string;
  readonly refreshToken?: string;
  readonly serverPublic: ServerPublicKey;
  /** RFC 7638 thumbprint of the client key that opened the gateway's answer. */
  readonly clientKeyThumbprint: string;
  readonly createdAt: Instant;
  /**
   * How many sessions in a row before this one were found dead early, through no action of ours. Absent if a call of
   * ours may still end it.
   */
  readonly deathsBefore?: number;
  readonly expiresAt: Instant;
  /** From here on a replica renews in the background while everyone keeps being served. */
  readonly renewAt: Instant;
  /** Expiry less the safety margin: from here on the session is not handed out as fresh. */
  readonly mustRenewAt: Instant;
}

/** What is left of a session until its expiry and until its renewal, whatever wall clocks say. */
export interface SessionLeft {
  readonly expiresInMs: number;
  readonly renewInMs: number;
}

/** What the gateway issued, opened and checked, before the domain gives it a generation and its moments. */
export interface IssuedSession {
  readonly authToken: string;
  readonly deviceId: string;
  readonly refreshToken?: string;
  readonly serverPublic: ServerPublicKey;
  readonly clientKeyThumbprint: string;
  /** The earliest expiry that the answer names, by the gateway's clock; absent if it names none. */
  readonly expiresAt?: Instant;
  /** Our wall clock when the request was sent. */
  readonly sentAt: Instant;
  /** Our wall clock when the answer was complete. */
  readonly receivedAt: Instant;
  /** The gateway's `Date` header (whole seconds), if there was one. */
  readonly gatewayDate?: Instant;
  readonly requestId?: string;
}

export function haveSameServerKey(left: Session, right: Session): boolean {
  return left.serverPublic.x === right.serverPublic.x && left.serverPublic.y === right.serverPublic.y;
}
