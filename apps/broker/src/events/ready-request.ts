import { ApiProperty } from '@nestjs/swagger';
import { IsInt, Matches, Max, Min } from 'class-validator';
import { GenerationProperty } from '../docs/generation-property.js';

const GENERATION = { message: 'must be a whole number from 1 to 9007199254740991' };

export class ReadyRequest {
  @IsInt(GENERATION)
  @Min(1, GENERATION)
  @Max(Number.MAX_SAFE_INTEGER, GENERATION)
  @GenerationProperty({ description: 'As the event `handover` gave it.' })
  readonly generation: number;

  @Matches(/^[A-Za-z0-9_-]{1,64}$/, { message: 'must be 1 to 64 letters, digits and _ -' })
  @ApiProperty({ pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'As the event `handover` gave it.' })
  readonly participant: string;
}
