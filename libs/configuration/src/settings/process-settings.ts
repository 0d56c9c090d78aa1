import { flag, oneOf, text, wholeNumber } from '../setting.js';
import { durationBetween, durationMs } from '../value-rule.js';

export const MANAGEMENT_HOSTS =
  'Names by which the port is asked, such as the one of an ingress, beside `localhost` and addresses. A request to any other ' +
  'name is answered 421: [security](security.md#names-of-others).';

/** What broker and egress do in the same way with their configuration … */
export class ReloadSettings {
  @flag('Take changed files without a restart: [reload](reload.md). SIGHUP always does it at once.')
  readonly watch: boolean = true;

  @text(
    'How often the files are looked at; a change is taken once it has stood still for a second.',
    durationBetween('1s', '1h'),
  )
  readonly everyMs: number = durationMs('5s');

  @wholeNumber(
    'A change that removes more merchants, or more clients of an egress, is not taken: a file that was cut off looks ' +
      'like that. The number in force counts, not the one of the changed file.',
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
