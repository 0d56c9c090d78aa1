import { ApiProperty } from './api-decorators.js';

interface GenerationDocument {
  readonly description: string;
  readonly required?: boolean;
}

/** A generation exceeds 32 bits but is exact in a double: the contract says both wherever one appears. */
export function GenerationProperty(options: GenerationDocument): PropertyDecorator {
  return ApiProperty({
    type: 'integer',
    format: 'int64',
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    example: 1795212001234,
    ...options,
  });
}
