import type { SessionBrokerOptions } from '../options.js';
import { SessionBroker } from '../session-broker.js';
import type { NestClass, NestDynamicModule, NestProvider, NestToken } from './nest-types.js';
import { SessionBrokerHealth } from './session-broker-health.js';

export interface SessionBrokerModuleOptions {
  /** Whether every module may inject it without an import; true by default. */
  readonly isGlobal?: boolean | undefined;
  /** For several merchants in one service: inject with `@Inject(sessionBrokerToken(name))`. */
  readonly name?: string | undefined;
}

export interface SessionBrokerAsyncOptions<Parts extends unknown[]> extends SessionBrokerModuleOptions {
  /** Modules that have what is injected, where those are not global. */
  readonly imports?: readonly unknown[] | undefined;
  readonly inject?: NestProvider['inject'] | undefined;
  readonly useFactory: (...parts: Parts) => SessionBrokerOptions | Promise<SessionBrokerOptions>;
}

interface Tokens {
  readonly options: NestToken;
  readonly broker: NestToken;
  readonly health: NestToken;
  readonly shutdown: NestToken;
}

/** By which the client of a named merchant is injected. */
export function sessionBrokerToken(name: string): string {
  return `SESSION_BROKER:${name}`;
}

/** By which its health indicator is. */
export function sessionBrokerHealthToken(name: string): string {
  return `SESSION_BROKER_HEALTH:${name}`;
}

function tokensOf(name: string | undefined): Tokens {
  const suffix = name === undefined ? '' : `:${name}`;
  return {
    options: `SESSION_BROKER_OPTIONS${suffix}`,
    broker: name === undefined ? SessionBroker : sessionBrokerToken(name),
    health: name === undefined ? SessionBrokerHealth : sessionBrokerHealthToken(name),
    shutdown: `SESSION_BROKER_SHUTDOWN${suffix}`,
  };
}

/** A client for Nest: `SessionBroker` and `SessionBrokerHealth` to inject, closed with the application. */
export class SessionBrokerModule {
  static forRoot(options: SessionBrokerOptions & SessionBrokerModuleOptions): NestDynamicModule & NestModule {
    const { isGlobal, name, ...client } = options;
    return SessionBrokerModule.forRootAsync({ isGlobal, name, useFactory: () => client });
  }

  static forRootAsync<Parts extends unknown[]>(
    options: SessionBrokerAsyncOptions<Parts>,
  ): NestDynamicModule & NestModule {
    const { isGlobal = true, name, imports = [], inject = [], useFactory } = options;
    const tokens = tokensOf(name);
    return {
      module: SessionBrokerModule,
      global: isGlobal,
      // Nest looks at them itself; here they only pass through.
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

interface NestModule {
  module: typeof SessionBrokerModule;
}

const made = (provide: NestToken, part: NestToken, useFactory: (part: unknown) => object): NestProvider => ({
  provide,
  useFactory,
  inject: [part],
});

/** After the last request has been answered: it may still have needed the session. */
function shutdownOf(broker: SessionBroker): { onApplicationShutdown(): Promise<void> } {
  return { onApplicationShutdown: () => broker.close() };
}
