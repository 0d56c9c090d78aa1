export { IsIn, IsInt, IsObject, IsString, Matches, Max, Min, ValidateIf, Validator } from 'class-validator';
export type { ValidationError } from 'class-validator';
