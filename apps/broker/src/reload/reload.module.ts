import { type DynamicModule, Module } from '@nestjs/common';
import { Reloads } from '#libs/configuration';
import { AuditModule } from '../audit/audit.module.js';
import { EventsModule } from '../events/events.module.js';
import { HttpModule } from '../http/http.module.js';
import { RequestLife } from '../http/request-life.js';
import { ManagementModule } from '../management/management.module.js';
import { RenewalModule } from '../renewal/renewal.module.js';
import { type ReloadOptions, reloadProviders } from './reload.providers.js';

export type { ReloadOptions };

/**
 * Changed files are applied without a restart: this module knows every feature that has to follow, and none of them
 * knows it.
 */
@Module({})
export class ReloadModule {
  static forRoot(options: ReloadOptions): DynamicModule {
    return {
      module: ReloadModule,
      imports: [AuditModule, RenewalModule, HttpModule, EventsModule, ManagementModule],
      providers: reloadProviders(options),
      exports: [Reloads],
    };
  }

  constructor(life: RequestLife, reloads: Reloads) {
    life.onShutDown(() => reloads.close());
  }
}
