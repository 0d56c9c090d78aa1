import type * as Swagger from '@nestjs/swagger';

export const OPEN_API_PATH = '/openapi.json';
export const DOCS_PATH = '/docs';

type Library = typeof Swagger;
type Decorator = ClassDecorator & MethodDecorator & PropertyDecorator;
type DecoratorName = Extract<keyof Library, `Api${string}`>;
type OptionsOf<Name extends DecoratorName> = Library[Name] extends (...options: infer Options) => unknown
  ? Options
  : never;
export type ApiPropertyOptions = Swagger.ApiPropertyOptions;
export type ApiOperationOptions = Swagger.ApiOperationOptions;
export type ApiResponseOptions = Swagger.ApiResponseOptions;
type Place = [target: object, property?: string | symbol, descriptor?: PropertyDescriptor];

/** In source order. */
const written: ((library: Library) => void)[] = [];

/**
 * A decorator of the library that describes APIs, applied only when someone asks for the contract: the library is a
 * sixth of what a start would load, and most replicas are never asked.
 */
function described<Name extends DecoratorName>(name: Name): (...options: OptionsOf<Name>) => Decorator {
  return (...options) =>
    (...place: Place): void => {
      written.push((library) => {
        const decoratorOf = library[name] as unknown as (...options: OptionsOf<Name>) => (...place: Place) => void;
        decoratorOf(...options)(...place);
      });
    };
}

/** Applies each recorded description once. */
export function applyDescriptions(library: Library): void {
  for (const apply of written.splice(0)) apply(library);
}

/** Where a class's document is in the contract. */
export function schemaPathOf({ name }: { readonly name: string }): string {
  return `#/components/schemas/${name}`;
}

export const ApiBearerAuth = described('ApiBearerAuth');
export const ApiBody = described('ApiBody');
export const ApiExtraModels = described('ApiExtraModels');
export const ApiHeader = described('ApiHeader');
export const ApiOperation = described('ApiOperation');
export const ApiParam = described('ApiParam');
export const ApiProperty = described('ApiProperty');
export const ApiQuery = described('ApiQuery');
export const ApiResponse = described('ApiResponse');
export const ApiTags = described('ApiTags');

/** A member of a document, and what it says. */
export function Member(description: string, options: ApiPropertyOptions = {}): PropertyDecorator {
  return ApiProperty({ description, ...options });
}

/** One that may be missing. */
export function OptionalMember(description: string, options: ApiPropertyOptions = {}): PropertyDecorator {
  return Member(description, { required: false, ...options } as ApiPropertyOptions);
}

const GENERATION = {
  type: 'integer',
  format: 'int64',
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  example: 1795212001234,
} as const;

/** A generation exceeds 32 bits but is exact in a double: the contract says both wherever one appears. */
export function Generation(description: string, options: { readonly required?: boolean } = {}): PropertyDecorator {
  return Member(description, { ...GENERATION, ...options });
}
