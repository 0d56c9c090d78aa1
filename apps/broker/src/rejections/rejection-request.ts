import { ApiProperty } from '../docs/api-decorators.js';
import { Matches, ValidateIf } from '../http/body-rules.js';
import { GenerationProperty } from '../docs/generation-property.js';
import { IsGeneration } from '../http/is-generation.js';

export class RejectionRequest {
  @IsGeneration()
  @GenerationProperty({ description: 'Of the session that the gateway refused.' })
  readonly generation: number;

  @ValidateIf((_body, reason) => reason !== undefined)
  @Matches(/^[A-Za-z0-9_]{1,64}$/, { message: 'must be 1 to 64 letters, digits and _' })
  @ApiProperty({
    required: false,
    pattern: '^[A-Za-z0-9_]{1,64}$',
    example: 'b_expired_token',
    description:
      "The gateway's own code. It is logged. Without one of its codes for a dead session, sessions are created as seldom as while somebody else creates.",
  })
  readonly reason?: string;
}
