import { type DynamicModule, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import type { BrokerConfiguration } from '#libs/configuration';
import { ConfigurationModule } from './configuration/configuration.module.js';
import { EventsModule } from './events/events.module.js';
import { ManagementModule } from './management/management.module.js';
import { NotificationsModule } from './notifications/notifications.module.js';
import { PayloadsModule } from './payloads/payloads.module.js';
import { type Platform, PlatformModule } from './platform/platform.module.js';
import { RejectionsModule } from './rejections/rejections.module.js';
import { type ReloadOptions, ReloadModule } from './reload/reload.module.js';
import { SessionsModule } from './sessions/sessions.module.js';
import { WantedRenewalsModule } from './wanted-renewals/wanted-renewals.module.js';

interface BrokerModuleOptions extends Platform {
  readonly configuration: BrokerConfiguration;
  /** Without it, the configuration never changes. */
  readonly reload?: ReloadOptions;
}

/** The broker: the foundations, the features, and on top of them whatever follows from a changed configuration. */
@Module({})
export class BrokerModule {
  static forRoot({ configuration, reload, ...platform }: BrokerModuleOptions): DynamicModule {
    return {
      module: BrokerModule,
      imports: [
        PlatformModule.forRoot(platform),
        ConfigurationModule.forRoot(configuration),
        ScheduleModule.forRoot(),
        SessionsModule,
        EventsModule,
        RejectionsModule,
        WantedRenewalsModule,
        PayloadsModule,
        NotificationsModule,
        ManagementModule,
        ...(reload === undefined ? [] : [ReloadModule.forRoot(reload)]),
      ],
    };
  }
}
