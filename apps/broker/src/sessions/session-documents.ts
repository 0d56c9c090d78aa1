import { toRfc3339 } from '#libs/clock';
import type { Session, SessionLeft, WantedRenewalAnswer } from '#libs/session';
import { ApiProperty, Generation, Member, OptionalMember } from '../docs/api-decorators.js';
import { PublicKeyDocument } from '../docs/route-documents.js';
import { GenerationMember, WordMember } from '../http/body.js';

const MsLeft = (moment: string): PropertyDecorator =>
  Member(
    `Milliseconds until ${moment}. Count them by a monotonic clock of yours, from the request on, less the \`Age\` of the answer.`,
    { type: 'integer', format: 'int64', minimum: 0 },
  );

export class ServerPublicKeyDocument extends PublicKeyDocument {}

/** The only JSON form of a session. Its parts belong together: never mix those of two generations. */
export class SessionDocument {
  @ApiProperty({ example: 'shop' })
  readonly merchant: string;

  @Generation('Only grows. The ETag of the response is this number.')
  readonly generation: number;

  @Member('Secret.', { format: 'uuid' })
  readonly authToken: string;

  @Member('Secret.', { format: 'uuid' })
  readonly deviceId: string;

  @OptionalMember('Secret. One of the two session forms has none.', { format: 'uuid' })
  readonly refreshToken?: string;

  @Member('Encrypt request bodies to this key.', { type: ServerPublicKeyDocument })
  readonly serverPublic: ServerPublicKeyDocument;

  @Member('RFC 7638 thumbprint of the client key that opens the answers of this session.')
  readonly clientKeyThumbprint: string;

  @ApiProperty({ format: 'date-time', example: '2026-11-20T12:00:01.234Z' })
  readonly createdAt: string;

  @ApiProperty({ format: 'date-time', example: '2026-11-20T12:15:01.234Z' })
  readonly expiresAt: string;

  @Member('A newer session can be expected from here on.', { format: 'date-time' })
  readonly renewAt: string;

  @MsLeft('`expiresAt`')
  readonly expiresInMs: number;

  @MsLeft('`renewAt`')
  readonly renewInMs: number;
}

export function sessionDocument(session: Session, left: SessionLeft): SessionDocument {
  return {
    merchant: session.merchant,
    generation: session.generation,
    authToken: session.authToken,
    deviceId: session.deviceId,
    ...(session.refreshToken === undefined ? {} : { refreshToken: session.refreshToken }),
    serverPublic: session.serverPublic,
    clientKeyThumbprint: session.clientKeyThumbprint,
    createdAt: toRfc3339(session.createdAt),
    expiresAt: toRfc3339(session.expiresAt),
    renewAt: toRfc3339(session.renewAt),
    ...left,
  };
}

/** In steps of this, what is left of a session is told: it is read thousands of times in each. */
const STEP_MS = 100;

const roundedDown = (ms: number): number => Math.floor(ms / STEP_MS) * STEP_MS;

/** Makes something of a session and what is left of it, once for each step, however many read and watch it. */
export function madeOnce<Made>(
  make: (session: Session, left: SessionLeft) => Made,
): (session: Session, left: SessionLeft) => Made {
  const known = new WeakMap<Session, { readonly left: SessionLeft; readonly made: Made }>();
  return (session, left) => {
    const expiresInMs = roundedDown(left.expiresInMs);
    const renewInMs = roundedDown(left.renewInMs);
    const last = known.get(session);
    if (last?.left.expiresInMs === expiresInMs && last.left.renewInMs === renewInMs) return last.made;
    const told = { expiresInMs, renewInMs };
    const made = make(session, told);
    known.set(session, { left: told, made });
    return made;
  };
}

export const sessionJson = madeOnce((session, left) => JSON.stringify(sessionDocument(session, left)));

export class RejectionRequest {
  @GenerationMember('Of the session that the gateway refused.')
  readonly generation: number;

  @WordMember(
    '_',
    "The gateway's own code. It is logged. Without one of its codes for a dead session, sessions are created as seldom as while somebody else creates.",
    { required: false, example: 'b_expired_token' },
  )
  readonly reason?: string;
}

const RESULTS = ['renewed', 'just_renewed'] as const satisfies readonly WantedRenewalAnswer['kind'][];

/**
 * The outcome of a renewal that a person asked for. Without the session itself: permission to renew need not include
 * permission to pay.
 */
export class RenewalDocument {
  @ApiProperty({ example: 'shop' })
  readonly merchant: string;

  @Member('`just_renewed`: a session was created less than ten seconds ago, and no call was made for this wish.', {
    enum: RESULTS,
  })
  readonly result: string;

  @OptionalMember('With `just_renewed`: in how many seconds another wish gets a newer session.', {
    type: 'integer',
    format: 'int32',
    minimum: 1,
    example: 7,
  })
  readonly retryInSeconds?: number;

  @Generation('Of the session that is served now.')
  readonly generation: number;

  @Member('RFC 7638 thumbprint of the client key that opened the answer.')
  readonly clientKeyThumbprint: string;

  @ApiProperty({ format: 'date-time' })
  readonly createdAt: string;

  @ApiProperty({ format: 'date-time' })
  readonly expiresAt: string;

  @Member('A newer session can be expected from here on.', { format: 'date-time' })
  readonly renewAt: string;
}

export function renewalDocument(answer: WantedRenewalAnswer): RenewalDocument {
  const { kind, session } = answer;
  const { merchant, generation, clientKeyThumbprint, createdAt, expiresAt, renewAt } = session;
  return {
    merchant,
    result: kind,
    ...(answer.kind === 'just_renewed' ? { retryInSeconds: Math.ceil(answer.retryInMs / 1_000) } : {}),
    generation,
    clientKeyThumbprint,
    createdAt: toRfc3339(createdAt),
    expiresAt: toRfc3339(expiresAt),
    renewAt: toRfc3339(renewAt),
  };
}
