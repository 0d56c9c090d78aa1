import type { ClientKey, RecipientKey } from '#libs/jwe';
import type { LeadTime } from '#libs/session';
import { certificates, clientKey, type FileName, fileOf, recipientKey, serviceCode } from '../file-contents.js';
import { flag, flagOr, list, oneOf, section, text, texts, wholeNumber } from '../setting.js';
import {
  attachmentName,
  baseUrl,
  durationBetween,
  durationMs,
  leadTime,
  merchantId,
  proxyUrl,
  publicKeyPin,
  timeOfDay,
  timeZone,
  uuid,
} from '../value-rule.js';

class RequestDataSettings {
  @oneOf('How the session request data is sent. The interface description leaves this open.', [
    'none',
    'body',
    'header',
  ])
  readonly attach: 'none' | 'body' | 'header' = 'none';

  @text('The body member or header that carries it; required unless `attach` is `none`.', attachmentName, {
    optional: true,
  })
  readonly name?: string;

  @text('The public JWK that it is encrypted to; required unless `attach` is `none`.', fileOf(recipientKey), {
    optional: true,
  })
  readonly recipientKeyFile?: FileName<RecipientKey>;
}

/** Whom to trust as the gateway. Nothing here can switch verification off. */
export class GatewayTlsSettings {
  @text('PEM certificates to trust in place of the built-in authorities.', fileOf(certificates), { optional: true })
  readonly caFile?: FileName<string>;

  @texts("`sha256/…` of the server's public key (RFC 7469 without its quotes); one must match.", publicKeyPin, 0)
  readonly pins: readonly string[] = [];
}

export class GatewaySettings {
  @text('Where the gateway is. https is required in production.', baseUrl)
  readonly baseUrl!: URL;

  @oneOf('`test` allows `testBaseUrl` and needs client keys of its own.', ['production', 'test'])
  readonly environment: 'production' | 'test' = 'production';

  @text('Where the test-only helper requests go; only with `test`.', baseUrl, { optional: true })
  readonly testBaseUrl?: URL;

  @text('How long a create-session call may take as a whole.', durationBetween('100ms', '60s'))
  readonly timeoutMs: number = durationMs('5s');

  @section(RequestDataSettings) readonly requestData: RequestDataSettings = new RequestDataSettings();

  @flagOr('Whether a new session ends the one before it. According to the published interface, it does.', 'unknown')
  readonly supersedes: boolean | 'unknown' = true;

  @text(
    "If the gateway's clock differs from ours by more than this, it is not trusted: an expiry is read by both clocks, and the earlier moment that is still to come counts.",
    durationBetween('2s', '1d'),
  )
  readonly largestClockSkewMs: number = durationMs('5m');

  @section(GatewayTlsSettings) readonly tls: GatewayTlsSettings = new GatewayTlsSettings();

  @text('URL of an HTTP proxy to the gateway.', proxyUrl, { optional: true })
  readonly proxy?: URL;
}

/** A hard stop: a short window against storms, a long one against a mistake that repeats all day. */
class BudgetWindowSettings {
  @wholeNumber('Maximum number of create calls in any period of the length `per`.', 1, 1_000)
  readonly calls!: number;

  @text('The length of that period; different for each window.', durationBetween('1s', '7d'))
  readonly perMs!: number;
}

const renewalAge = durationBetween('1m', '365d');

/** The hours in which a renewal disturbs the least. */
class QuietHoursSettings {
  @text('When they begin, in local time.', timeOfDay)
  readonly from!: string;

  @text('When they end; on the next day if that is earlier than `from`.', timeOfDay)
  readonly to!: string;

  @text('The time zone of `from` and `to`, daylight saving included.', timeZone)
  readonly timeZone!: string;
}

/** The `session` section of a merchant. */
class RenewalSettings {
  @text(
    'How long before expiry to renew. Default: 20 %, or 5m if that is less and there are quiet hours; at least two gateway timeouts.',
    leadTime,
    { optional: true },
  )
  readonly renewBefore?: LeadTime;

  @text('The age at which to renew, however long a session lives; at least twice `renewBefore`.', renewalAge, {
    optional: true,
  })
  readonly renewEveryMs?: number;

  @section(QuietHoursSettings, { optional: true }) readonly quietHours?: QuietHoursSettings;

  @text(
    'How long before expiry a session stops being fresh; less than `renewBefore`. Default: 5 %, at most 30 s.',
    leadTime,
    {
      optional: true,
    },
  )
  readonly safetyMargin?: LeadTime;

  @text('Lifetime of a session that names no expiry, from when the request was sent.', durationBetween('1s', '365d'))
  readonly fallbackLifetimeMs: number = durationMs('8h');

  @text('No session is believed to live longer. At least `fallbackLifetime`.', durationBetween('1s', '365d'))
  readonly longestLifetimeMs: number = durationMs('24h');

  @text(
    'How long a planned renewal waits while consumers hold new calls and let running ones end. `0s`: it does not wait.',
    durationBetween('0s', '5s'),
  )
  readonly handoverMs: number = durationMs('1s');

  @text(
    'While somebody else creates sessions of the merchant, rejections create at most one in this time.',
    durationBetween('10s', '1d'),
  )
  readonly foreignAuthorizerPauseMs: number = durationMs('10m');

  @list(BudgetWindowSettings, 1, {
    meaning:
      'Limits on create calls, over all replicas and restarts. Every window applies; early renewals, such as those after a rejection, may use 75 % of it.',
    most: 4,
    example: '[{ calls: 20, per: 10m }, { calls: 60, per: 24h }]',
  })
  readonly budget: readonly BudgetWindowSettings[] = [
    { calls: 20, perMs: durationMs('10m') },
    { calls: 60, perMs: durationMs('24h') },
  ];
}

export class MerchantSettings {
  @text("Unique. Part of the API's paths.", merchantId)
  readonly id!: string;

  @text('The UUID that the bank assigned; unique. This or `serviceCodeFile`.', uuid, { optional: true })
  readonly serviceCode?: string;

  @text('A file that holds the serviceCode and nothing else.', fileOf(serviceCode), { optional: true })
  readonly serviceCodeFile?: FileName<string>;

  @texts(
    'Private JWKs, or public ones that name an HSM; newest first: the first is in use, the rest only open what was sealed to them. Never shared between production and test.',
    fileOf(clientKey),
    1,
  )
  readonly clientKeyFiles!: readonly FileName<ClientKey>[];

  @flag('Whether the replica is ready only once this merchant has a session to serve.')
  readonly required: boolean = true;

  @section(GatewaySettings) readonly gateway!: GatewaySettings;
  @section(RenewalSettings) readonly session: RenewalSettings = new RenewalSettings();
}
