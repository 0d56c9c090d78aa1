import { flag, text, wholeNumber } from '../setting.js';
import { hostName } from '../value-rule.js';

/** Where health, metrics and the status page are served. */
export class ManagementSettings {
  @text(hostName) readonly host: string = '127.0.0.1';
  @wholeNumber(0, 65_535) readonly port: number = 9464;
  /** Merchants with metrics of their own; the rest share the label `_other`. */
  @wholeNumber(1, 100_000) readonly merchantSeries: number = 500;
  @flag() readonly statusPage: boolean = true;
}
