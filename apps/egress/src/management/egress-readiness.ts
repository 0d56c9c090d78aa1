import type { Clock } from '#libs/clock';

export interface MerchantReadiness {
  readonly merchant: string;
  readonly ready: boolean;
  /**
   * Why not: `expired`, or the code of what went wrong. For a merchant that is ready, why the broker will give no other
   * session.
   */
  readonly reason?: string;
}

/** Whether requests may be sent here, and if not, why. */
export interface EgressReadiness {
  readonly ready: boolean;
  readonly shuttingDown: boolean;
  readonly merchants: readonly MerchantReadiness[];
}

/** What is known about the session of one merchant. */
export interface KnownSession {
  /** By our clock; undefined while there is none. */
  readonly expiresAtMs: number | undefined;
  /** Why there is none, or will be no other, if known. */
  readonly reason?: string | undefined;
}

interface ReadinessQuestion {
  /** The merchants of the clients, each once. */
  readonly merchants: Iterable<string>;
  readonly sessionOf: (merchant: string) => KnownSession;
  readonly isShuttingDown: boolean;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Ready means useful: every merchant of a client has a session that is valid now, whatever the broker and the gateway
 * are doing. If the broker is away, the egress goes on until its sessions end.
 */
export function readinessOf({ merchants, sessionOf, isShuttingDown, clock }: ReadinessQuestion): EgressReadiness {
  const nowMs = clock.now();
  const each = [...merchants].map((merchant) => judge(merchant, sessionOf(merchant), nowMs));
  return { ready: !isShuttingDown && each.every(({ ready }) => ready), shuttingDown: isShuttingDown, merchants: each };
}

function judge(merchant: string, { expiresAtMs, reason }: KnownSession, nowMs: number): MerchantReadiness {
  if (expiresAtMs !== undefined && expiresAtMs > nowMs) {
    return { merchant, ready: true, ...(reason === undefined ? {} : { reason }) };
  }
  return { merchant, ready: false, reason: reason ?? (expiresAtMs === undefined ? 'no_session' : 'expired') };
}
