import { ApiProperty } from '../docs/api-decorators.js';
import { GenerationProperty } from '../docs/generation-property.js';

/** What a participant is told about a renewal that is about to begin, or that came to nothing. */
export class HandoverNotice {
  @ApiProperty()
  readonly merchant: string;

  @GenerationProperty({ description: 'Of the session that is to come. It names the hand-over.' })
  readonly generation: number;

  @ApiProperty({
    type: 'integer',
    format: 'int32',
    minimum: 0,
    maximum: 10_000,
    description:
      'Hold new calls until a session of this generation or a later one comes, and no longer than this many ' +
      'milliseconds. 0: the renewal came to nothing; go on with the session that you have.',
  })
  readonly holdForMs: number;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    description: "When the hand-over began, by the broker's clock.",
  })
  readonly at: string;

  @ApiProperty({
    required: false,
    pattern: '^[A-Za-z0-9_-]{1,64}$',
    description:
      'You, in this hand-over: report it once no call of yours is running any more. Left out: no report is expected.',
  })
  readonly participant?: string;
}
