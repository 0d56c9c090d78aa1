import { flag, text } from '../setting.js';
import { durationBetween } from '../value-rule.js';

/** Taking changed files without a restart. SIGHUP does it at once, in any case. */
export class ReloadSettings {
  @flag() readonly watch: boolean = true;
  @text(durationBetween('1s', '1h')) readonly every: string = '5s';
}
