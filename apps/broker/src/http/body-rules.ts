// Each from its own file: the library's index also loads telephone number rules for every country, a tenth of a start.
export { IsIn } from 'class-validator/cjs/decorator/common/IsIn.js';
export { ValidateIf } from 'class-validator/cjs/decorator/common/ValidateIf.js';
export { Max } from 'class-validator/cjs/decorator/number/Max.js';
export { Min } from 'class-validator/cjs/decorator/number/Min.js';
export { Matches } from 'class-validator/cjs/decorator/string/Matches.js';
export { IsInt } from 'class-validator/cjs/decorator/typechecker/IsInt.js';
export { IsObject } from 'class-validator/cjs/decorator/typechecker/IsObject.js';
export { IsString } from 'class-validator/cjs/decorator/typechecker/IsString.js';
export type { ValidationError } from 'class-validator';
export { Validator } from 'class-validator/cjs/validation/Validator.js';
