import { readSession, type Session } from '../session.js';
import { wallMs } from '../time.js';

/** A P-384 point whose private key was not kept. */
const SOME_POINT = {
  kty: 'EC',
  crv: 'P-384',
  x: '--mRoBKIOvX64XX0l-CPpVCAapwyNZ6VzsBdD5R2dLkFgVtqqvnNB-KWwHtG_22e',
  y: 'PFQGZA48J5kQ9m7rzTZk405DaS4Xd3yhGv8RWnS1bNef48dG3HoFyM_4Ln7rY5wK',
};
/** As a fraction of its lifetime, as in the broker. */
const RENEWED_AFTER = 0.8;

/** What a session from `aSession` should have. */
export interface SessionWish extends Partial<Session> {
  /** In milliseconds from now; 15 minutes by default. */
  readonly lifetimeMs?: number | undefined;
}

/**
 * A session as the broker hands it out, valid from now on, with the given members.
 * @throws ProtocolError for a member that is not valid
 */
export function aSession({
  lifetimeMs = 900_000,
  generation = 1,
  merchant = 'shop',
  ...members
}: SessionWish = {}): Session {
  const now = wallMs();
  const at = (ms: number): string => new Date(now + ms).toISOString();
  const session = {
    authToken: `auth-token-${generation}`,
    deviceId: `device-id-${generation}`,
    refreshToken: `refresh-token-${generation}`,
    serverPublic: SOME_POINT,
    clientKeyThumbprint: 'LrSCJ6m3kJpUOrX0Yt0v8Zc2tXG5qJ0o3dY4mH1nZ7A',
    createdAt: at(0),
    expiresAt: at(lifetimeMs),
    renewAt: at(lifetimeMs * RENEWED_AFTER),
    ...members,
    generation,
    merchant,
  };
  return readSession(session, merchant);
}

/** A notification of the gateway, about a payment on its hosted page; pass it to `sealedAnswer` for a sealed one. */
export function aNotification(operation: object = {}, order: object = {}): Readonly<Record<string, unknown>> {
  const both = { coinAmount: 12_500, merchantId: 'terminal-1' };
  const told = { ...both, type: 'PURCHASE', ecomOperationId: 'operation-1', status: 'SUCCESS', ...operation };
  const names = { ecomOrderId: 'order-1', hppOrderId: 'hosted-1', merchantRequestId: 'request-1' };
  return { ...both, ...names, orderStatus: 'SUCCESS', ...order, operation: told };
}
