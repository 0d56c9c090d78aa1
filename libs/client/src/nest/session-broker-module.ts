import { demandKnownOptions, type SessionBrokerOptions } from '../options.js';
import { SessionBroker } from '../session-broker.js';
import { SessionBrokerHealth } from './session-broker-health.js';

/**
 * Only the types of Nest that this package needs. Nothing is imported from Nest, so that one build of this package fits
 * Nest 10 to 12, in both module formats.
 */
export type NestToken = string | symbol | (abstract new (...parts: never[]) => unknown);

type NestClass = new (...parts: unknown[]) => unknown;

export interface NestProvider {
  provide: NestToken;
  useFactory: (...parts: unknown[]) => unknown;
  inject: (NestToken | { token: NestToken; optional: boolean })[];
}

/** What Nest calls a dynamic module. */
export interface NestDynamicModule {
  module: new () => object;
  global: boolean;
  imports: NestClass[];
  providers: NestProvider[];
  exports: NestToken[];
}

/** What the module accepts in addition to the client's options. */
export interface SessionBrokerModuleOptions {
  /** Whether every module can inject the client without importing this module; true by default. */
  readonly isGlobal?: boolean | undefined;
  /** For several merchants in one service: inject with `@Inject(sessionBrokerToken(name))`. */
  readonly name?: string | undefined;
}

/** Options of `forRootAsync`. */
export interface SessionBrokerAsyncOptions<Parts extends unknown[]> extends SessionBrokerModuleOptions {
  /** Modules that provide what is injected, if they are not global. */
  readonly imports?: readonly unknown[] | undefined;
  /** What `useFactory` receives, in this order, such as `[ConfigService]`. */
  readonly inject?: NestProvider['inject'] | undefined;
  /** Returns the client's options. */
  readonly useFactory: (...parts: Parts) => SessionBrokerOptions | Promise<SessionBrokerOptions>;
}

const ASYNC_OPTIONS: readonly string[] = ['useFactory', 'inject', 'imports', 'name', 'isGlobal'];

/** The token for injecting the client of a named merchant. */
export function sessionBrokerToken(name: string): string {
  return `SESSION_BROKER:${name}`;
}

/** The token for injecting the health indicator of a named merchant. */
export function sessionBrokerHealthToken(name: string): string {
  return `SESSION_BROKER_HEALTH:${name}`;
}

function tokensOf(name: string | undefined) {
  const suffix = name === undefined ? '' : `:${name}`;
  return {
    options: `SESSION_BROKER_OPTIONS${suffix}`,
    broker: name === undefined ? SessionBroker : sessionBrokerToken(name),
    health: name === undefined ? SessionBrokerHealth : sessionBrokerHealthToken(name),
    shutdown: `SESSION_BROKER_SHUTDOWN${suffix}`,
  };
}

/** The client for Nest: provides `SessionBroker` and `SessionBrokerHealth`, and closes with the application. */
export class SessionBrokerModule {
  /** Options that cannot be used are reported when the application starts. */
  static forRoot(options: SessionBrokerOptions & SessionBrokerModuleOptions): NestDynamicModule {
    const { isGlobal, name, ...client } = options;
    return SessionBrokerModule.forRootAsync({ isGlobal, name, useFactory: () => client });
  }

  /** @throws InvalidInput for an unknown name; what `useFactory` returns is checked as by forRoot */
  static forRootAsync<Parts extends unknown[]>(options: SessionBrokerAsyncOptions<Parts>): NestDynamicModule {
    demandKnownOptions(options, ASYNC_OPTIONS);
    const { isGlobal = true, name, imports = [], inject = [], useFactory } = options;
    const tokens = tokensOf(name);
    return {
      module: SessionBrokerModule,
      global: isGlobal,
      // Nest checks these itself; here they are only passed through.
      imports: [...imports] as NestClass[],
      providers: [
        { provide: tokens.options, useFactory: useFactory as NestProvider['useFactory'], inject },
        made(tokens.broker, tokens.options, (given) => new SessionBroker(given as SessionBrokerOptions)),
        made(tokens.health, tokens.broker, (broker) => new SessionBrokerHealth(broker as SessionBroker)),
        made(tokens.shutdown, tokens.broker, (broker) => shutdownOf(broker as SessionBroker)),
      ],
      exports: [tokens.broker, tokens.health],
    };
  }
}

const made = (provide: NestToken, part: NestToken, useFactory: (part: unknown) => object): NestProvider => ({
  provide,
  useFactory,
  inject: [part],
});

/** Only after the last request has been answered, which may still have needed the session. */
function shutdownOf(broker: SessionBroker): { onApplicationShutdown(): Promise<void> } {
  return { onApplicationShutdown: () => broker.close() };
}
