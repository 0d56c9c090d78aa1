import { flag, section, text, wholeNumber } from '../setting.js';
import { hostName } from '../value-rule.js';
import { HttpTlsSettings } from './http-tls-settings.js';
import { RateLimitSettings } from './rate-limit-settings.js';

/** Where the API is served. Loopback unless said otherwise: a broker must not be open to a network by accident. */
export class HttpSettings {
  @text(hostName) readonly host: string = '127.0.0.1';
  @wholeNumber(0, 65_535) readonly port: number = 8080;
  @flag() readonly docs: boolean = true;
  @wholeNumber(1, 100_000) readonly maxWatchers: number = 10_000;
  @section(RateLimitSettings) readonly rateLimit: RateLimitSettings = new RateLimitSettings();
  @section(HttpTlsSettings, { optional: true }) readonly tls?: HttpTlsSettings;
}
