import { applyDecorators } from '@nestjs/common';
import { IsInt, Max, Min } from './body-rules.js';

const GENERATION = { message: 'must be a whole number from 1 to 9007199254740991' };

/** A generation in a request body. */
export function IsGeneration(): PropertyDecorator {
  return applyDecorators(Max(Number.MAX_SAFE_INTEGER, GENERATION), Min(1, GENERATION), IsInt(GENERATION));
}
