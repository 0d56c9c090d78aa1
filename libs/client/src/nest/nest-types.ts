/**
 * Only the types of Nest that this package needs. Nothing is imported from Nest, so that one build of this package fits
 * Nest 10 to 12, in both module formats.
 */
export type NestToken = string | symbol | (abstract new (...parts: never[]) => unknown);

export type NestClass = new (...parts: unknown[]) => unknown;

export interface NestProvider {
  provide: NestToken;
  useFactory: (...parts: unknown[]) => unknown;
  inject: (NestToken | { token: NestToken; optional: boolean })[];
}

/** What Nest calls a dynamic module. */
export interface NestDynamicModule {
  module: abstract new () => object;
  global: boolean;
  imports: NestClass[];
  providers: NestProvider[];
  exports: NestToken[];
}
