import { ApiProperty } from '../docs/api-decorators.js';
import { toRfc3339 } from '#libs/clock';
import type { Session, SessionLeft } from '#libs/session';
import { GenerationProperty } from '../docs/generation-property.js';

function MsLeftProperty(moment: string): PropertyDecorator {
  return ApiProperty({
    type: 'integer',
    format: 'int64',
    minimum: 0,
    description: `Milliseconds until ${moment}, at least, when the answer was made. Count them by a monotonic clock of yours, from the request on, less the \`Age\` of the answer, if it has one.`,
  });
}

export class ServerPublicKeyDocument {
  @ApiProperty({ enum: ['EC'] })
  readonly kty: string;

  @ApiProperty({ enum: ['P-384'] })
  readonly crv: string;

  @ApiProperty({
    description: 'base64url',
    example: '--mRoBKIOvX64XX0l-CPpVCAapwyNZ6VzsBdD5R2dLkFgVtqqvnNB-KWwHtG_22e',
  })
  readonly x: string;

  @ApiProperty({
    description: 'base64url',
    example: 'PFQGZA48J5kQ9m7rzTZk405DaS4Xd3yhGv8RWnS1bNef48dG3HoFyM_4Ln7rY5wK',
  })
  readonly y: string;
}

/** The only JSON form of a session. Its parts belong together: never mix those of two generations. */
export class SessionDocument {
  @ApiProperty({ example: 'shop' })
  readonly merchant: string;

  @GenerationProperty({ description: 'Only grows. The ETag of the response is this number.' })
  readonly generation: number;

  @ApiProperty({ format: 'uuid', description: 'Secret.' })
  readonly authToken: string;

  @ApiProperty({ format: 'uuid', description: 'Secret.' })
  readonly deviceId: string;

  @ApiProperty({ format: 'uuid', required: false, description: 'Secret. One of the two session forms has none.' })
  readonly refreshToken?: string;

  @ApiProperty({ type: ServerPublicKeyDocument, description: 'Encrypt request bodies to this key.' })
  readonly serverPublic: ServerPublicKeyDocument;

  @ApiProperty({ description: 'RFC 7638 thumbprint of the client key that opens the answers of this session.' })
  readonly clientKeyThumbprint: string;

  @ApiProperty({ format: 'date-time', example: '2026-11-20T12:00:01.234Z' })
  readonly createdAt: string;

  @ApiProperty({ format: 'date-time', example: '2026-11-20T12:15:01.234Z' })
  readonly expiresAt: string;

  @ApiProperty({ format: 'date-time', description: 'A newer session can be expected from here on.' })
  readonly renewAt: string;

  @MsLeftProperty('`expiresAt`')
  readonly expiresInMs: number;

  @MsLeftProperty('`renewAt`')
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

const written = new WeakMap<Session, { readonly left: SessionLeft; readonly json: string }>();

/** The document as JSON, serialised once for each step. */
export function sessionJson(session: Session, left: SessionLeft): string {
  const expiresInMs = roundedDown(left.expiresInMs);
  const renewInMs = roundedDown(left.renewInMs);
  const known = written.get(session);
  if (known?.left.expiresInMs === expiresInMs && known.left.renewInMs === renewInMs) return known.json;
  const told = { expiresInMs, renewInMs };
  const json = JSON.stringify(sessionDocument(session, told));
  written.set(session, { left: told, json });
  return json;
}
