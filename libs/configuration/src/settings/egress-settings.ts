import type { ClientKey, RecipientKey } from '#libs/jwe';
import {
  bearerToken,
  certificates,
  aliasKey,
  type FileName,
  fileOf,
  privateKey,
  recipientKey,
  secretOf,
} from '../file-contents.js';
import { routePath } from '../route-path.js';
import { list, oneOf, optionalWholeNumber, section, text, texts, wholeNumber } from '../setting.js';
import {
  baseUrl,
  callerName,
  clientName,
  durationBetween,
  durationMs,
  fileName,
  hostName,
  memberName,
  merchantId,
  proxyUrl,
  serviceCodeAlias,
  sha256Hex,
} from '../value-rule.js';
import { HttpTlsSettings } from './auth-settings.js';
import { GatewayTlsSettings } from './merchant-settings.js';
import { LogSettings, MANAGEMENT_HOSTS, ReloadSettings } from './process-settings.js';

/** A sealed body is held in memory as a whole, several times over. */
export const MAX_SEALED_BYTES = 65_536;
const MAX_CLEAR_BYTES = 67_108_864;

/** For sealed and clear bodies, if a route does not set it. */
export const DEFAULT_MAX_BYTES = { sealed: MAX_SEALED_BYTES, clear: 1_048_576 } as const;

/** Everybody who connects is counted, known or not. */
class ListenConnectionSettings {
  @wholeNumber('Maximum number of connections of clients to one egress; any more are closed immediately.', 1, 1_000_000)
  readonly max: number = 4_096;

  @wholeNumber(
    'Maximum number of them from one address. Behind a proxy or a load balancer, all clients have the same address.',
    1,
    1_000_000,
  )
  readonly perAddress: number = 3_072;
}

/** Where clients connect. Loopback by default: whoever may use it can make payments. */
class ListenSettings {
  @text('Address for the clients.', hostName)
  readonly host: string = '127.0.0.1';

  @wholeNumber('Port for the clients, 0 for any free one.', 0, 65_535)
  readonly port: number = 8090;

  @section(ListenConnectionSettings) readonly connections: ListenConnectionSettings = new ListenConnectionSettings();
  @section(HttpTlsSettings, { optional: true }) readonly tls?: HttpTlsSettings;
}

class EgressManagementSettings {
  @text('Address of health and metrics. They require no authentication: keep them inside your network.', hostName)
  readonly host: string = '127.0.0.1';

  @wholeNumber('Must differ from `egress.listen.port`; 0 for any free one.', 0, 65_535)
  readonly port: number = 9466;

  @texts(MANAGEMENT_HOSTS, hostName, 0)
  readonly hosts: readonly string[] = [];
}

/** Trust and identity towards the broker. Nothing here can switch verification off. */
class BrokerTlsSettings {
  @text('PEM certificates to trust for the broker in place of the built-in authorities.', fileOf(certificates), {
    optional: true,
  })
  readonly caFile?: FileName<string>;

  @text('PEM certificate that identifies the egress to the broker (`auth.mtls` there).', fileOf(certificates), {
    optional: true,
  })
  readonly certFile?: FileName<string>;

  @text('PEM key of that certificate.', fileOf(privateKey), { optional: true })
  readonly keyFile?: FileName<string>;
}

/** Where sessions come from. */
class BrokerAccessSettings {
  @text('Where the broker is. Over http, sessions and the token are not encrypted.', baseUrl)
  readonly url!: URL;

  @text(
    'Bearer token of the egress, read again when it changes. Required without a certificate, unless the broker is on a loopback address. The file may be created after the start; until then there is a warning.',
    fileOf(bearerToken('the egress gets no session from the broker')),
    { optional: true },
  )
  readonly tokenFile?: FileName<string>;

  @section(BrokerTlsSettings) readonly tls: BrokerTlsSettings = new BrokerTlsSettings();
}

/** Where requests go. */
class EgressGatewaySettings {
  @text('Where the gateway is. https is required in production.', baseUrl)
  readonly baseUrl!: URL;

  @oneOf('`test` allows http.', ['production', 'test'])
  readonly environment: 'production' | 'test' = 'production';

  @text(
    'How long a request may take as a whole, from the first byte sent to the last one received.',
    durationBetween('100ms', '5m'),
  )
  readonly timeoutMs: number = durationMs('30s');

  @section(GatewayTlsSettings) readonly tls: GatewayTlsSettings = new GatewayTlsSettings();

  @text('URL of an HTTP proxy to the gateway.', proxyUrl, { optional: true })
  readonly proxy?: URL;
}

/** In use. */
class ClientTokenSettings {
  /** In lower case. */
  @text('SHA-256 of the bearer token of the client. The token itself is not stored anywhere.', sha256Hex)
  readonly sha256!: string;
}

/** Still accepted while the client switches to a new one. */
class FormerTokenSettings {
  /** In lower case. */
  @text('SHA-256 of the previous token, accepted while the client switches to the new one.', sha256Hex)
  readonly sha256!: string;
}

/** Who may use the egress, and as which merchant. */
export class EgressClientSettings {
  @text('Unique. Used in logs, metrics and audit records.', clientName)
  readonly name!: string;

  @text('The merchant of the broker whose sessions its requests use.', merchantId)
  readonly merchant!: string;

  @section(ClientTokenSettings, { optional: true }) readonly token?: ClientTokenSettings;
  @section(FormerTokenSettings, { optional: true }) readonly formerToken?: FormerTokenSettings;

  @text(
    'The name in its client certificate: URI SAN, else DNS SAN, else CN. Needs `egress.listen.tls.clientCaFile`.',
    callerName,
    { optional: true },
  )
  readonly certificate?: string;

  @text(
    'Public JWK of a client that authorizes for itself: its alias session and its answers are sealed to this key.',
    fileOf(recipientKey),
    { optional: true },
  )
  readonly publicKeyFile?: FileName<RecipientKey>;

  @text(
    'A secret UUID that such a client sends as its serviceCode. Unique, and not the one that the bank assigned. ' +
      'This or `serviceCodeAliasFile`.',
    serviceCodeAlias,
    { optional: true },
  )
  readonly serviceCodeAlias?: string;

  @text('A file that holds the alias and nothing else.', fileOf(secretOf(serviceCodeAlias)), { optional: true })
  readonly serviceCodeAliasFile?: FileName<string>;
}

export class EgressRouteSettings {
  @text('`*` is exactly one part of a path, `**` at the end is one or more.', routePath)
  readonly path!: string;

  @oneOf(
    '`clear`: the body goes to the gateway as it is. `sealed`: it goes as a JWE, sealed to the key of the session.',
    ['clear', 'sealed'],
  )
  readonly body!: 'clear' | 'sealed';

  @texts(
    "Members of a sealed body that must be JWEs themselves, sealed to the bank's payment key: anything else in them is refused.",
    memberName,
    0,
  )
  readonly encrypted: readonly string[] = [];

  @texts(
    'Members of a sealed body whose long numbers are not card numbers: they are not searched for any.',
    memberName,
    0,
  )
  readonly notCards: readonly string[] = [];

  @optionalWholeNumber(
    'Maximum size of a body in bytes, in either direction. `sealed`: 65536 at most and by default; `clear`: 1048576 by default.',
    1,
    MAX_CLEAR_BYTES,
  )
  readonly maxBytes?: number;
}

class EgressAuditSettings {
  @text('Where audit records go: `stdout`, `none`, or a file that is appended to.', fileName)
  readonly destination: string = 'stdout';
}

export class EgressSettings {
  @section(ListenSettings) readonly listen: ListenSettings = new ListenSettings();
  @section(EgressManagementSettings) readonly management: EgressManagementSettings = new EgressManagementSettings();
  @section(BrokerAccessSettings) readonly broker!: BrokerAccessSettings;
  @section(EgressGatewaySettings) readonly gateway!: EgressGatewaySettings;

  @texts(
    "The egress's own private JWKs, newest first, never a merchant's: alias sessions are made from them. " +
      'Required if a client has an alias.',
    fileOf(aliasKey),
    0,
  )
  readonly aliasKeyFiles: readonly FileName<ClientKey>[] = [];

  @list(EgressClientSettings, 1) readonly clients!: readonly EgressClientSettings[];

  @list(EgressRouteSettings, 1, {
    meaning:
      'The first route that matches a path decides what is done with the body; a path that none matches is refused.',
    most: 100,
    example:
      '[{ path: /ecom/execute_request/hpp/**, body: clear }, ' +
      '{ path: /ecom/execute_request/**, body: sealed, encrypted: [encryptedCardNumber, encryptedCardData] }]',
  })
  readonly routes: readonly EgressRouteSettings[] = [
    { path: '/ecom/execute_request/hpp/**', body: 'clear', encrypted: [], notCards: [] },
    {
      path: '/ecom/execute_request/**',
      body: 'sealed',
      encrypted: ['encryptedCardNumber', 'encryptedCardData'],
      notCards: [],
    },
  ];

  @section(EgressAuditSettings) readonly audit: EgressAuditSettings = new EgressAuditSettings();
  @section(ReloadSettings) readonly reload: ReloadSettings = new ReloadSettings();
  @section(LogSettings) readonly log: LogSettings = new LogSettings();
}

/** The whole file: a single root member, so that it cannot be mistaken for a broker's. */
export class EgressDocument {
  @section(EgressSettings) readonly egress!: EgressSettings;
}
