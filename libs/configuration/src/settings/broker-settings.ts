import { bearerToken, certificates, fileOf, keySet, password, privateKey } from '../file-contents.js';
import { flag, list, oneOf, section, text, texts, type Values, wholeNumber } from '../setting.js';
import * as rule from '../value-rule.js';
import { merchant } from './merchant-settings.js';
import { connections, httpTls, log, managementHosts, reload } from './process-settings.js';

/** Loopback by default: a broker must not be open to a network by accident. */
const http = {
  host: text(rule.hostName, '127.0.0.1').says(
    'Address of the API. Anything but a loopback address needs a token, `auth.jwt` or `auth.mtls`.',
  ),
  port: wholeNumber(0, 65_535, 8080).says('Port of the API, 0 for any free one.'),
  hosts: texts(rule.hostName).says(
    'Host names that clients may use, besides `localhost` and IP addresses. Checked only with `auth.disabled`: a request to any other name is answered 421.',
  ),
  docs: flag(true).says('Serve `/openapi.json` and `/docs`.'),
  maxWatchers: wholeNumber(1, 100_000, 10_000).says(
    'Maximum number of consumers that follow sessions by events on one replica; any more are answered 503.',
  ),
  connections,
  rateLimit: section({
    perSecond: wholeNumber(1, 1_000_000, 500).says(
      'How many rejections and payloads a caller may send per second to one replica, on average. Reads are not limited.',
    ),
    burst: wholeNumber(1, 1_000_000, 2_000).says(
      'How many of them a caller may send at once. Any more are answered 429 with `Retry-After`.',
    ),
  }),
  tls: httpTls.optional,
};

const management = {
  host: text(rule.hostName, '127.0.0.1').says(
    'Address of health, metrics and status page. They require no authentication: keep them inside your network.',
  ),
  port: wholeNumber(0, 65_535, 9464).says('Must differ from `http.port`; 0 for any free one.'),
  hosts: managementHosts,
  merchantSeries: wholeNumber(1, 100_000, 500).says(
    'This many merchants, in the order of the file, have metrics of their own; the rest share the label `_other`.',
  ),
  statusPage: flag(true).says('Serve the [status page](../status-page.md) at `/` of the management port.'),
};

/** Where sessions, leases and due moments live. Nothing here can switch verification off. */
const store = {
  type: oneOf(['memory', 'redis'], 'memory').says(
    '`memory`: sessions live in this process, for one replica. `redis`: shared by all replicas.',
  ),
  keyPrefix: text(rule.keyPrefix, 'session-broker').says('Every key in a shared store begins with it.'),
  url: text(rule.redisUrl).optional.says(
    'A single Redis: `redis://user:password@host:6379/0`, `rediss://` for TLS. Exactly one of `url`, `sentinels`, `cluster`.',
  ),
  sentinels: texts(rule.hostAndPort).says('Redis Sentinel: `host:port` of each sentinel.'),
  name: text(rule.sentinelName).optional.says('The name under which the sentinels watch the primary.'),
  cluster: texts(rule.hostAndPort).says('Redis Cluster: `host:port` of some nodes; the others are found through them.'),
  username: text(rule.userName).optional.says('ACL user. Its password is in `passwordFile`.'),
  passwordFile: text(fileOf(password)).optional.says('File with the password of the ACL user, or of the default user.'),
  tls: section({
    caFile: text(fileOf(certificates)).optional.says(
      'PEM certificates to trust in place of the built-in authorities. A `tls` section turns on TLS for sentinels and cluster.',
    ),
    certFile: text(fileOf(certificates)).optional.says('PEM certificate of the broker, if Redis asks for one.'),
    keyFile: text(fileOf(privateKey)).optional.says('PEM key of that certificate.'),
    servername: text(rule.hostName).optional.says(
      "The name that the certificate of Redis must have, if it is not the host's.",
    ),
  }).optional,
};

const PERMISSIONS = ['session:read', 'session:reject', 'session:renew', 'payload:encrypt', 'payload:decrypt'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** In a policy: every merchant, including those that are configured later. */
export const EVERY_MERCHANT = '*';

const policyMerchant = rule.accepted(
  "the id of a merchant, or '*' for all of them",
  (text) => text === EVERY_MERCHANT || rule.merchantId.read(text) !== undefined,
);

/** Static bearer tokens, known to the broker only by their hashes. A caller may have several while one is replaced. */
const token = {
  caller: text(rule.callerName).says('Name of the caller, as policies and logs use it.'),
  sha256: text(rule.sha256Hex).says('SHA-256 of the bearer token. The token itself is not stored anywhere.'),
};

const policy = {
  caller: text(rule.callerName).says(
    'The caller of a token, the `sub` of a JWT, or the name of a certificate. Several policies of one caller add up.',
  ),
  merchants: texts(policyMerchant, 1).says('The merchants that the policy applies to.'),
  allow: texts(rule.oneWordOf(PERMISSIONS), 1).says('What the caller may do with them.'),
  boundTokens: flag(false).says(
    'Whether the policy applies only to a credential that is bound to the client certificate of the connection (RFC 8705): that certificate, or a JWT with its `cnf.x5t#S256`. Needs `auth.mtls`.',
  ),
};

/** Callers with JSON Web Tokens of one issuer, such as Kubernetes' projected service-account tokens. */
const jwt = {
  issuer: text(rule.issuer).says('The `iss` of the tokens; it must match character by character.'),
  audience: text(rule.audience).says('Must be in the `aud` of a token.'),
  types: texts(rule.mediaType).says(
    'The header `typ` of a token must be one of these. Empty: access tokens and tokens of no particular type are accepted, unless they look like an ID or a logout token.',
  ),
  jwksUri: text(rule.jwksUri).optional.says(
    'Where the issuer publishes its keys. Exactly one of `jwksUri` and `jwksFile`.',
  ),
  jwksFile: text(fileOf(keySet)).optional.says("A file with the issuer's keys, as a JSON Web Key Set."),
  jwksTokenFile: text(fileOf(bearerToken('no keys are fetched, and no token of the issuer is accepted'))).optional.says(
    'Bearer token for `jwksUri`, read again for each request; Kubernetes requires one. The file may be created after the start; until then there is a warning.',
  ),
  jwksCaFile: text(fileOf(certificates)).optional.says(
    'PEM certificates to trust for `jwksUri` in place of the built-in authorities.',
  ),
  clockToleranceMs: text(rule.durationBetween('0s', '5m'), '5s').says(
    'By how much the clocks of issuer and broker may differ.',
  ),
};

const auth = {
  tokens: list(token),
  policies: list(policy),
  disabled: flag(false).says(
    'Let everyone in. Accepted only while `http.host` is a loopback address, and without any other setting of `auth`.',
  ),
  jwt: section(jwt).optional,
  mtls: flag(false).says(
    'Client certificates identify callers: by URI SAN, else DNS SAN, else CN. Needs `http.tls.clientCaFile`.',
  ),
};

const audit = {
  destination: text(rule.fileName, 'stdout').says(
    'Where audit records go: `stdout`, `none`, or a file that is appended to. See [audit.md](audit.md).',
  ),
  readEvery: wholeNumber(1, 1_000_000_000, 1_000).says(
    'The first read of a session by a caller has a record of its own; after it, one record stands for this many reads.',
  ),
};

const pkcs11 = {
  modules: texts(rule.absolutePath).says(
    'The PKCS#11 libraries that key files may name as `module-path`: [HSM](../hsm.md). Code in them runs as the broker.',
  ),
};

/** The whole file. */
export const brokerSettings = {
  http: section(http),
  management: section(management),
  store: section(store),
  auth: section(auth),
  audit: section(audit),
  pkcs11: section(pkcs11),
  reload,
  log,
  merchants: list(merchant, { least: 1 }),
};

export type BrokerSettings = Values<typeof brokerSettings>;
export type HttpTlsSettings = NonNullable<BrokerSettings['http']['tls']>;
export type StoreSettings = BrokerSettings['store'];
export type AuthSettings = BrokerSettings['auth'];
export type JwtSettings = NonNullable<AuthSettings['jwt']>;
export type MerchantSettings = BrokerSettings['merchants'][number];
export type GatewaySettings = MerchantSettings['gateway'];
