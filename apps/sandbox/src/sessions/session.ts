import type { Instant } from '#libs/clock';
import type { KeyPair } from '../crypto/ec-key.js';
import type { MsgCode } from '../gateway/refusal.js';

/** A technical session as the gateway keeps it. */
export interface PlayedSession {
  /** Increases by one with each session of the sandbox. */
  readonly id: number;
  readonly merchant: string;
  readonly authToken: string;
  readonly deviceId: string;
  readonly refreshToken: string | undefined;
  readonly serverKey: KeyPair;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
}

type SessionState = 'live' | 'expired' | 'superseded' | 'revoked';

export interface Standing {
  readonly state: SessionState;
  /** The code that a request presenting the session is refused with; undefined while it is live. */
  readonly msgCode?: MsgCode;
}
