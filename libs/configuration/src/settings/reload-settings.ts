import { flag, text } from '../setting.js';
import { durationBetween } from '../value-rule.js';

export class ReloadSettings {
  @flag('Take changed files without a restart: [reload](reload.md). SIGHUP does it at once, in any case.')
  readonly watch: boolean = true;

  @text(
    'How often the files are looked at; a change is taken once it has stood still for a second.',
    durationBetween('1s', '1h'),
  )
  readonly every: string = '5s';
}
