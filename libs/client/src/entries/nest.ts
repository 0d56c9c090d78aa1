import type { SessionBrokerOptions } from '../options.js';
import { SessionBroker } from '../session-broker.js';

/**
 * Only the types of Nest that this package needs. Nothing is imported from Nest, so that one build of this package fits
 * Nest 10 to 12, in both module formats.
 */
export type NestToken = string | symbol | (abstract new (...parts: never[]) => unknown);

/** What Nest calls a dynamic module. */
export interface NestDynamicModule {
  module: new () => object;
  global: boolean;
  imports: (new (...parts: unknown[]) => unknown)[];
  providers: {
    provide: NestToken;
    useFactory: (...parts: unknown[]) => unknown;
    inject: (NestToken | { token: NestToken; optional: boolean })[];
  }[];
  exports: NestToken[];
}

/** Options of `forRootAsync`. */
export interface SessionBrokerAsyncOptions<Parts extends unknown[]> {
  /** For several merchants in one service: inject with `@Inject(sessionBrokerToken(name))`. */
  readonly name?: string | undefined;
  /** Modules that provide what is injected, if they are not global. */
  readonly imports?: readonly unknown[] | undefined;
  /** What `useFactory` receives, in this order, such as `[ConfigService]`. */
  readonly inject?: NestDynamicModule['providers'][number]['inject'] | undefined;
  /** Returns the client's options. */
  readonly useFactory: (...parts: Parts) => SessionBrokerOptions | Promise<SessionBrokerOptions>;
}

/** The token for injecting the client of a named merchant. */
export function sessionBrokerToken(name: string): string {
  return `SESSION_BROKER:${name}`;
}

/** The client for Nest: provides `SessionBroker` everywhere, and closes it with the application. */
export class SessionBrokerModule {
  /** Options that cannot be used are reported when the application starts. */
  static forRoot({ name, ...options }: SessionBrokerOptions & { readonly name?: string }): NestDynamicModule {
    return SessionBrokerModule.forRootAsync({ name, useFactory: () => options });
  }

  /** What `useFactory` returns is checked as by forRoot. */
  static forRootAsync<Parts extends unknown[]>(options: SessionBrokerAsyncOptions<Parts>): NestDynamicModule {
    const { name, imports = [], inject = [], useFactory } = options;
    const token = name === undefined ? SessionBroker : sessionBrokerToken(name);
    const made = async (...parts: unknown[]): Promise<SessionBroker> =>
      new SessionBroker(await useFactory(...(parts as Parts)));
    // Only after the last request has been answered, which may still have needed the session.
    const closing = (broker: unknown): object => ({ onApplicationShutdown: () => (broker as SessionBroker).close() });
    return {
      module: SessionBrokerModule,
      global: true,
      // Nest checks these itself; here they are only passed through.
      imports: [...imports] as NestDynamicModule['imports'],
      providers: [
        { provide: token, inject, useFactory: made },
        { provide: `SESSION_BROKER_SHUTDOWN:${name ?? ''}`, inject: [token], useFactory: closing },
      ],
      exports: [token],
    };
  }
}
