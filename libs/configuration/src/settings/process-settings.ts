import { flag, oneOf, text, wholeNumber } from '../setting.js';
import { durationBetween, durationMs } from '../value-rule.js';

export const MANAGEMENT_HOSTS =
  'Host names that may be used for this port, such as that of an ingress, besides `localhost` and IP addresses. A request to ' +
  'any other name is answered 421: [security](security.md#names-of-others).';

/** What broker and egress do in the same way with their configuration … */
export class ReloadSettings {
  @flag('Apply changed files without a restart: [reload](reload.md). SIGHUP always applies them at once.')
  readonly watch: boolean = true;

  @text(
    'How often the files are checked; a change is applied once nothing else has changed for a second.',
    durationBetween('1s', '1h'),
  )
  readonly everyMs: number = durationMs('5s');

  @wholeNumber(
    'A change that removes more merchants than this, or more clients of an egress, is refused: the file may have been cut ' +
      'off. The number in force counts, not the one in the changed file.',
    0,
    100_000,
  )
  readonly maxRemoved: number = 10;
}

/** … and with their log. */
export class LogSettings {
  @oneOf('The least severe lines that are logged.', ['debug', 'info', 'warn', 'error'])
  readonly level: 'debug' | 'info' | 'warn' | 'error' = 'info';
}
