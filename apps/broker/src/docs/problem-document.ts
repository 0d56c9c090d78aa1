import { ApiProperty } from './api-decorators.js';

/** RFC 9457. */
export class ProblemDocument {
  @ApiProperty({ example: 'urn:session-broker:problem:session_unavailable' })
  readonly type: string;

  @ApiProperty({ example: 'There is no session to serve at the moment' })
  readonly title: string;

  @ApiProperty({ type: 'integer', format: 'int32', minimum: 400, maximum: 599, example: 503 })
  readonly status: number;

  @ApiProperty({ description: 'Stable; see docs/errors.md.', example: 'session_unavailable' })
  readonly code: string;

  @ApiProperty({
    required: false,
    description: 'With `session_unavailable`: why, in a stable word; see docs/errors.md. More of them may come.',
    example: 'transient',
  })
  readonly reason?: string;

  @ApiProperty({ required: false, description: 'Text for people.' })
  readonly detail?: string;

  @ApiProperty({
    required: false,
    description:
      'With `session_unavailable` and `foreign_authorizer`: what is the matter, in a sentence for people, as `GET /v1/merchants` says it. Absent where nobody knows.',
    example: 'the bank refuses: b_merchant_not_found',
  })
  readonly cause?: string;

  @ApiProperty({ description: 'Also in the header x-request-id and in the log.' })
  readonly requestId: string;
}
