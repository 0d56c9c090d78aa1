import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { BrokerConfiguration } from '#libs/configuration';
import { ConfigurationInForce } from './configuration-in-force.js';

/** The configuration that the broker currently uses. */
@Global()
@Module({})
export class ConfigurationModule {
  static forRoot(configuration: BrokerConfiguration): DynamicModule {
    return {
      module: ConfigurationModule,
      providers: [{ provide: ConfigurationInForce, useFactory: () => new ConfigurationInForce(configuration) }],
      exports: [ConfigurationInForce],
    };
  }
}
