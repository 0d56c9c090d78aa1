import { demandKnownNames } from '../options.js';
import { readSession, type ServerPublicKey, type Session } from '../session.js';
import { wallMs } from '../time.js';

/** A P-384 point whose private key was not kept. */
const SOME_POINT: ServerPublicKey = {
  kty: 'EC',
  crv: 'P-384',
  x: '--mRoBKIOvX64XX0l-CPpVCAapwyNZ6VzsBdD5R2dLkFgVtqqvnNB-KWwHtG_22e',
  y: 'PFQGZA48J5kQ9m7rzTZk405DaS4Xd3yhGv8RWnS1bNef48dG3HoFyM_4Ln7rY5wK',
};
const DEFAULT_LIFETIME_MS = 900_000;
/** As a fraction of its lifetime, as in the broker. */
const RENEWED_AFTER = 0.8;

/** What a session from `aSession` should have. */
export interface SessionWish extends Partial<Session> {
  /** In milliseconds from now; 15 minutes by default. */
  readonly lifetimeMs?: number | undefined;
}

const WISHES: readonly string[] = [
  ...['lifetimeMs', 'merchant', 'generation', 'authToken', 'deviceId', 'refreshToken', 'serverPublic'],
  ...['clientKeyThumbprint', 'createdAt', 'expiresAt', 'renewAt'],
];

/**
 * A session as the broker hands it out, valid from now on, with the given members.
 * @throws InvalidInput for a member that no session has, ProtocolError for one that is not valid
 */
export function aSession(wish: SessionWish = {}): Session {
  demandKnownNames(Object.keys(wish), WISHES, 'member');
  const { lifetimeMs = DEFAULT_LIFETIME_MS, ...members } = wish;
  const { generation = 1, merchant = 'shop' } = members;
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

/** The gateway's answer to a request with a dead session, for a fake gateway. */
export function aDeadSessionAnswer(msgCode = 'b_session_doesnt_exist', status = 401): Response {
  const body = { requestId: 'request-1', msgCode, msgType: 'ERROR', msgText: 'The session is dead', msgAttrs: {} };
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
}

/** A notification of the gateway, about a payment on its hosted page; pass it to `sealedAnswer` for a sealed one. */
export function aNotification(operation: object = {}, order: object = {}): Readonly<Record<string, unknown>> {
  const both = { coinAmount: 12_500, merchantId: 'terminal-1' };
  const told = { ...both, type: 'PURCHASE', ecomOperationId: 'operation-1', status: 'SUCCESS', ...operation };
  const names = { ecomOrderId: 'order-1', hppOrderId: 'hosted-1', merchantRequestId: 'request-1' };
  return { ...both, ...names, orderStatus: 'SUCCESS', ...order, operation: told };
}
