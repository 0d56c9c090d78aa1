import { flag, notSupported, text, wholeNumber } from '../setting.js';
import { hostName } from '../value-rule.js';

/** Where the API is served. Loopback unless said otherwise: a broker must not be open to a network by accident. */
export class HttpSettings {
  @text(hostName) readonly host: string = '127.0.0.1';
  @wholeNumber(0, 65_535) readonly port: number = 8080;
  @flag() readonly docs: boolean = true;
  @wholeNumber(1, 100_000) readonly maxWatchers: number = 10_000;
  @notSupported() readonly tls?: undefined;
}
