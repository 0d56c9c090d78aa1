import { flag, oneOf, text } from '../setting.js';
import { durationBetween, durationMs } from '../value-rule.js';

/** What broker and egress do in the same way with their configuration … */
export class ReloadSettings {
  @flag('Take changed files without a restart: [reload](reload.md). SIGHUP always does it at once.')
  readonly watch: boolean = true;

  @text(
    'How often the files are looked at; a change is taken once it has stood still for a second.',
    durationBetween('1s', '1h'),
  )
  readonly everyMs: number = durationMs('5s');
}

/** … and with their log. */
export class LogSettings {
  @oneOf('The least severe lines that are logged.', ['debug', 'info', 'warn', 'error'])
  readonly level: 'debug' | 'info' | 'warn' | 'error' = 'info';
}
