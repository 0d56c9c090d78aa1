import { list, section } from '../setting.js';
import { AuditSettings } from './audit-settings.js';
import { AuthSettings } from './auth-settings.js';
import { HttpSettings } from './http-settings.js';
import { LogSettings } from './log-settings.js';
import { ManagementSettings } from './management-settings.js';
import { MerchantSettings } from './merchant-settings.js';
import { ReloadSettings } from './reload-settings.js';
import { StoreSettings } from './store-settings.js';

/** The whole file. A default stands where it belongs: as the initial value of its setting. */
export class BrokerSettings {
  @section(HttpSettings) readonly http: HttpSettings = new HttpSettings();
  @section(ManagementSettings) readonly management: ManagementSettings = new ManagementSettings();
  @section(StoreSettings) readonly store: StoreSettings = new StoreSettings();
  @section(AuthSettings) readonly auth: AuthSettings = new AuthSettings();
  @section(AuditSettings) readonly audit: AuditSettings = new AuditSettings();
  @section(ReloadSettings) readonly reload: ReloadSettings = new ReloadSettings();
  @section(LogSettings) readonly log: LogSettings = new LogSettings();
  @list(MerchantSettings, 1) readonly merchants!: MerchantSettings[];
}
