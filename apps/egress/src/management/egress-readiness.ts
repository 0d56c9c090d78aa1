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
  readonly merchant: string;
  /** Undefined before the first session. */
  readonly generation: number | undefined;
  readonly isLiving: boolean;
  /** Why there is none, or will be no other, if known. */
  readonly reason?: string | undefined;
}

/**
 * Ready means useful: every merchant of a client has a session that is valid now, whatever the broker and the gateway
 * are doing. If the broker is away, the egress goes on until its sessions end.
 */
export function readinessOf(sessions: readonly KnownSession[], shuttingDown: boolean): EgressReadiness {
  const merchants = sessions.map(judge);
  return { ready: !shuttingDown && merchants.every(({ ready }) => ready), shuttingDown, merchants };
}

function judge({ merchant, generation, isLiving, reason }: KnownSession): MerchantReadiness {
  if (isLiving) return { merchant, ready: true, ...(reason === undefined ? {} : { reason }) };
  return { merchant, ready: false, reason: reason ?? (generation === undefined ? 'no_session' : 'expired') };
}
