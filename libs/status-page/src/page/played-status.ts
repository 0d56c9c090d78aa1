import type { StatusMerchant, StatusReplica } from '../status-document.js';

export const replica: StatusReplica = {
  name: 'broker-0',
  version: '0.1.0',
  startedAt: 0,
  ready: true,
  storeReached: true,
  shuttingDown: false,
};

/** A merchant whose next attempt comes after its session's end. */
export const blocked = (expiresAt: number): StatusMerchant => ({
  id: `shop-${expiresAt}`,
  required: true,
  environment: 'production',
  condition: 'failing',
  reason: 'current',
  session: { generation: 1, createdAt: 0, renewAt: 1, mustRenewAt: 2, expiresAt },
  renewing: false,
  renewalBlocked: true,
});
