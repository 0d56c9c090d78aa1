import { ApiProperty } from '../docs/api-decorators.js';
import { toRfc3339 } from '#libs/clock';
import type { WantedRenewalAnswer } from '#libs/session';
import { GenerationProperty } from '../docs/generation-property.js';

const RESULTS = ['renewed', 'just_renewed'] as const satisfies readonly WantedRenewalAnswer['kind'][];

/**
 * The outcome of a renewal that a person asked for. Without the session itself: permission to renew need not include
 * permission to pay.
 */
export class RenewalDocument {
  @ApiProperty({ example: 'shop' })
  readonly merchant: string;

  @ApiProperty({
    enum: RESULTS,
    description: '`just_renewed`: a session was created less than ten seconds ago, and no call was made for this wish.',
  })
  readonly result: string;

  @ApiProperty({
    required: false,
    type: 'integer',
    format: 'int32',
    minimum: 1,
    description: 'With `just_renewed`: in how many seconds another wish gets a newer session.',
    example: 7,
  })
  readonly retryInSeconds?: number;

  @GenerationProperty({ description: 'Of the session that is served now.' })
  readonly generation: number;

  @ApiProperty({ description: 'RFC 7638 thumbprint of the client key that opened the answer.' })
  readonly clientKeyThumbprint: string;

  @ApiProperty({ format: 'date-time' })
  readonly createdAt: string;

  @ApiProperty({ format: 'date-time' })
  readonly expiresAt: string;

  @ApiProperty({ format: 'date-time', description: 'A newer session can be expected from here on.' })
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
