// The library has its types elsewhere than its files.
declare module 'class-validator/cjs/decorator/common/IsIn.js' {
  export { IsIn } from 'class-validator';
}
declare module 'class-validator/cjs/decorator/common/ValidateIf.js' {
  export { ValidateIf } from 'class-validator';
}
declare module 'class-validator/cjs/decorator/number/Max.js' {
  export { Max } from 'class-validator';
}
declare module 'class-validator/cjs/decorator/number/Min.js' {
  export { Min } from 'class-validator';
}
declare module 'class-validator/cjs/decorator/string/Matches.js' {
  export { Matches } from 'class-validator';
}
declare module 'class-validator/cjs/decorator/typechecker/IsInt.js' {
  export { IsInt } from 'class-validator';
}
declare module 'class-validator/cjs/decorator/typechecker/IsObject.js' {
  export { IsObject } from 'class-validator';
}
declare module 'class-validator/cjs/decorator/typechecker/IsString.js' {
  export { IsString } from 'class-validator';
}
declare module 'class-validator/cjs/validation/Validator.js' {
  export { Validator } from 'class-validator';
}
