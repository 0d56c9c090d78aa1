import { flag, list, section, text, texts, wholeNumber } from '../setting.js';
import { fileName, hostName } from '../value-rule.js';
import { AuthSettings, HttpTlsSettings } from './auth-settings.js';
import { MerchantSettings } from './merchant-settings.js';
import { LogSettings, MANAGEMENT_HOSTS, ReloadSettings } from './process-settings.js';
import { StoreSettings } from './store-settings.js';

/** Per caller on one replica, for the routes that cost more than a read: rejections and payloads. */
class RateLimitSettings {
  @wholeNumber(
    'How many rejections and payloads a caller may send per second to one replica, on average. Reads are not limited.',
    1,
    1_000_000,
  )
  readonly perSecond: number = 500;

  @wholeNumber(
    'How many of them a caller may send at once. Any more are answered 429 with `Retry-After`.',
    1,
    1_000_000,
  )
  readonly burst: number = 2_000;
}

/** Everybody who connects is counted, known or not: followers, waiting readers, and those who send nothing. */
class HttpConnectionSettings {
  @wholeNumber(
    'Maximum number of connections to the API of one replica; any more are closed immediately.',
    1,
    1_000_000,
  )
  readonly max: number = 12_000;

  @wholeNumber(
    'Maximum number of them from one address. Behind a proxy or a load balancer, all callers have the same address.',
    1,
    1_000_000,
  )
  readonly perAddress: number = 11_000;
}

/** Where the API is served. Loopback by default: a broker must not be open to a network by accident. */
class HttpSettings {
  @text('Address of the API. Anything but a loopback address needs a token, `auth.jwt` or `auth.mtls`.', hostName)
  readonly host: string = '127.0.0.1';

  @wholeNumber('Port of the API, 0 for any free one.', 0, 65_535)
  readonly port: number = 8080;

  @texts(
    'Host names that clients may use, besides `localhost` and IP addresses. Checked only with `auth.disabled`: a request to ' +
      'any other name is answered 421.',
    hostName,
    0,
  )
  readonly hosts: readonly string[] = [];

  @flag('Serve `/openapi.json` and `/docs`.')
  readonly docs: boolean = true;

  @wholeNumber(
    'Maximum number of consumers that follow sessions by events on one replica; any more are answered 503.',
    1,
    100_000,
  )
  readonly maxWatchers: number = 10_000;

  @section(HttpConnectionSettings) readonly connections: HttpConnectionSettings = new HttpConnectionSettings();
  @section(RateLimitSettings) readonly rateLimit: RateLimitSettings = new RateLimitSettings();
  @section(HttpTlsSettings, { optional: true }) readonly tls?: HttpTlsSettings;
}

class ManagementSettings {
  @text(
    'Address of health, metrics and status page. They require no authentication: keep them inside your network.',
    hostName,
  )
  readonly host: string = '127.0.0.1';

  @wholeNumber('Must differ from `http.port`; 0 for any free one.', 0, 65_535)
  readonly port: number = 9464;

  @texts(MANAGEMENT_HOSTS, hostName, 0)
  readonly hosts: readonly string[] = [];

  @wholeNumber(
    'This many merchants, in the order of the file, have metrics of their own; the rest share the label `_other`.',
    1,
    100_000,
  )
  readonly merchantSeries: number = 500;

  @flag('Serve the [status page](status-page.md) at `/` of the management port.')
  readonly statusPage: boolean = true;
}

/** Who read what when. */
class AuditSettings {
  @text('Where audit records go: `stdout`, `none`, or a file that is appended to. See [audit.md](audit.md).', fileName)
  readonly destination: string = 'stdout';

  @wholeNumber(
    'The first read of a session by a caller has a record of its own; after it, one record stands for this many reads.',
    1,
    1_000_000_000,
  )
  readonly readEvery: number = 1_000;
}

/** The whole file. Each default is the initial value of its setting. */
export class BrokerSettings {
  @section(HttpSettings) readonly http: HttpSettings = new HttpSettings();
  @section(ManagementSettings) readonly management: ManagementSettings = new ManagementSettings();
  @section(StoreSettings) readonly store: StoreSettings = new StoreSettings();
  @section(AuthSettings) readonly auth: AuthSettings = new AuthSettings();
  @section(AuditSettings) readonly audit: AuditSettings = new AuditSettings();
  @section(ReloadSettings) readonly reload: ReloadSettings = new ReloadSettings();
  @section(LogSettings) readonly log: LogSettings = new LogSettings();
  @list(MerchantSettings, 1) readonly merchants!: readonly MerchantSettings[];
}
