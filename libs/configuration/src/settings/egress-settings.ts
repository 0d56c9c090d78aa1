import { aliasKey, bearerToken, certificates, fileOf, privateKey, recipientKey, secretOf } from '../file-contents.js';
import { list, oneOf, section, text, texts, type Values, wholeNumber } from '../setting.js';
import * as rule from '../value-rule.js';
import {
  connections,
  gatewayProxy,
  gatewayTls,
  gatewayUrl,
  httpTls,
  log,
  managementHosts,
  reload,
} from './process-settings.js';

/** A sealed body is held in memory as a whole, several times over. */
export const MAX_SEALED_BYTES = 65_536;
const MAX_CLEAR_BYTES = 67_108_864;

/** For sealed and clear bodies, if a route does not set it. */
export const DEFAULT_MAX_BYTES = { sealed: MAX_SEALED_BYTES, clear: 1_048_576 } as const;

/** Where clients connect. Loopback by default: whoever may use it can make payments. */
const listen = {
  host: text(rule.hostName, '127.0.0.1').says('Address for the clients.'),
  port: wholeNumber(0, 65_535, 8090).says('Port for the clients, 0 for any free one.'),
  connections,
  tls: httpTls.optional,
};

const management = {
  host: text(rule.hostName, '127.0.0.1').says(
    'Address of health and metrics. They require no authentication: keep them inside your network.',
  ),
  port: wholeNumber(0, 65_535, 9466).says('Must differ from `egress.listen.port`; 0 for any free one.'),
  hosts: managementHosts,
};

/** Where sessions come from. Nothing here can switch verification off. */
const broker = {
  url: text(rule.baseUrl).says('Where the broker is. Over http, sessions and the token are not encrypted.'),
  tokenFile: text(fileOf(bearerToken('the egress gets no session from the broker'))).optional.says(
    'Bearer token of the egress, read again when it changes. Required without a certificate, unless the broker is on a loopback address. The file may be created after the start; until then there is a warning.',
  ),
  tls: section({
    caFile: text(fileOf(certificates)).optional.says(
      'PEM certificates to trust for the broker in place of the built-in authorities.',
    ),
    certFile: text(fileOf(certificates)).optional.says(
      'PEM certificate that identifies the egress to the broker (`auth.mtls` there).',
    ),
    keyFile: text(fileOf(privateKey)).optional.says('PEM key of that certificate.'),
  }),
};

/** Where requests go. */
const gateway = {
  baseUrl: gatewayUrl,
  environment: oneOf(['production', 'test'], 'production').says('`test` allows http.'),
  timeoutMs: text(rule.durationBetween('100ms', '5m'), '30s').says(
    'How long a request may take as a whole, from the first byte sent to the last one received.',
  ),
  passedHeaders: texts(rule.passedHeader).says(
    'Headers of clients that the gateway gets besides `Accept`, `Accept-Language`, `User-Agent`, `x-request_id` and those of a trace.',
  ),
  tls: gatewayTls,
  proxy: gatewayProxy,
};

/** Who may use the egress, and as which merchant. */
const client = {
  name: text(rule.clientName).says('Unique. Used in logs, metrics and audit records.'),
  merchant: text(rule.merchantId).says('The merchant of the broker whose sessions its requests use.'),
  token: section({
    sha256: text(rule.sha256Hex).says(
      'SHA-256 of the bearer token of the client. The token itself is not stored anywhere.',
    ),
  }).optional,
  formerToken: section({
    sha256: text(rule.sha256Hex).says(
      'SHA-256 of the previous token, accepted while the client switches to the new one.',
    ),
  }).optional,
  certificate: text(rule.callerName).optional.says(
    'The name in its client certificate: URI SAN, else DNS SAN, else CN. Needs `egress.listen.tls.clientCaFile`.',
  ),
  publicKeyFile: text(fileOf(recipientKey)).optional.says(
    'Public JWK of a client that authorizes for itself: its alias session and its answers are sealed to this key.',
  ),
  serviceCodeAlias: text(rule.serviceCodeAlias).optional.says(
    'A secret UUID that such a client sends as its serviceCode. Unique, and not the one that the bank assigned. This or `serviceCodeAliasFile`.',
  ),
  serviceCodeAliasFile: text(fileOf(secretOf(rule.serviceCodeAlias))).optional.says(
    'A file that holds the alias and nothing else.',
  ),
};

const route = {
  path: text(rule.routePath).says('`*` is exactly one part of a path, `**` at the end is one or more.'),
  body: oneOf(['clear', 'sealed']).says(
    '`clear`: the body goes to the gateway as it is. `sealed`: it goes as a JWE, sealed to the key of the session.',
  ),
  encrypted: texts(rule.memberName).says(
    "Members that must be JWEs themselves, sealed to the bank's payment key, besides `encryptedCardNumber`, `encryptedCardData` and `encryptedExpDate`.",
  ),
  maxBytes: wholeNumber(1, MAX_CLEAR_BYTES).optional.says(
    'Maximum size of a body in bytes. `sealed`: 65536 at most and by default; `clear`: 1048576 by default, and 65536 at most for requests.',
  ),
};

const egress = {
  listen: section(listen),
  management: section(management),
  broker: section(broker),
  gateway: section(gateway),
  aliasKeyFiles: texts(fileOf(aliasKey)).says(
    "The egress's own private JWKs, newest first, never a merchant's: alias sessions are made from them. Required if a client has an alias.",
  ),
  clients: list(client, { least: 1 }),
  routes: list(route, {
    ...{ least: 1, most: 100 },
    byDefault: [
      { path: '/ecom/execute_request/hpp/**', body: 'clear' },
      { path: '/ecom/execute_request/**', body: 'sealed' },
    ],
  }).says(
    'The first route that matches a path decides what is done with the body; a path that none matches is refused.',
  ),
  audit: section({
    destination: text(rule.fileName, 'stdout').says(
      'Where audit records go: `stdout`, `none`, or a file that is appended to.',
    ),
  }),
  reload,
  log,
};

/** The whole file: a single root member, so that it cannot be mistaken for a broker's. */
export const egressDocument = { egress: section(egress) };

export type EgressDocument = Values<typeof egressDocument>;
export type EgressSettings = EgressDocument['egress'];
export type EgressClientSettings = EgressSettings['clients'][number];
