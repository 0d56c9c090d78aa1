import { flag, section, text, wholeNumber } from '../setting.js';
import { hostName } from '../value-rule.js';
import { HttpTlsSettings } from './http-tls-settings.js';
import { RateLimitSettings } from './rate-limit-settings.js';

/** Where the API is served. Loopback unless said otherwise: a broker must not be open to a network by accident. */
export class HttpSettings {
  @text('Address of the API. Anything but a loopback address needs a token, `auth.jwt` or `auth.mtls`.', hostName)
  readonly host: string = '127.0.0.1';

  @wholeNumber('Port of the API, 0 for any free one.', 0, 65_535)
  readonly port: number = 8080;

  @flag('Serve `/openapi.json` and `/docs`.')
  readonly docs: boolean = true;

  @wholeNumber('Most consumers that follow sessions by events on one replica; more are answered 503.', 1, 100_000)
  readonly maxWatchers: number = 10_000;

  @section(RateLimitSettings) readonly rateLimit: RateLimitSettings = new RateLimitSettings();
  @section(HttpTlsSettings, { optional: true }) readonly tls?: HttpTlsSettings;
}
