import { ApiProperty } from '../docs/api-decorators.js';
import { Matches } from '../http/body-rules.js';
import { GenerationProperty } from '../docs/generation-property.js';
import { IsGeneration } from '../http/is-generation.js';

export class ReadyRequest {
  @IsGeneration()
  @GenerationProperty({ description: 'As the event `handover` gave it.' })
  readonly generation: number;

  @Matches(/^[A-Za-z0-9_-]{1,64}$/, { message: 'must be 1 to 64 letters, digits and _ -' })
  @ApiProperty({ pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'As the event `handover` gave it.' })
  readonly participant: string;
}
