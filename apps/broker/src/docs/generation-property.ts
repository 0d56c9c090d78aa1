import { ApiProperty } from './api-decorators.js';

interface GenerationDocument {
  readonly description: string;
  readonly required?: boolean;
}

/**
 * A generation is larger than a 32-bit number can be, and exact in a double: the contract says both wherever there is
 * one.
 */
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
