import { flag, text, wholeNumber } from '../setting.js';
import { hostName } from '../value-rule.js';

export class ManagementSettings {
  @text('Address of health, metrics and status page. They need no authentication: keep them inside.', hostName)
  readonly host: string = '127.0.0.1';

  @wholeNumber('Must differ from `http.port`; 0 for any free one.', 0, 65_535)
  readonly port: number = 9464;

  @wholeNumber(
    'So many merchants, in the order of the file, have metrics of their own; the rest share the label `_other`.',
    1,
    100_000,
  )
  readonly merchantSeries: number = 500;

  @flag('Serve the [status page](status-page.md) at `/` of the management port.')
  readonly statusPage: boolean = true;
}
