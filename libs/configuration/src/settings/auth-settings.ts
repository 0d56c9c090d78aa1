import {
  bearerToken,
  certificates,
  type FileName,
  fileOf,
  type JsonWebKeySet,
  keySet,
  privateKey,
} from '../file-contents.js';
import { flag, list, section, text, texts } from '../setting.js';
import {
  audience,
  callerName,
  durationBetween,
  durationMs,
  issuer,
  jwksUri,
  mediaType,
  merchantId,
  oneWordOf,
  sha256Hex,
  type TextRule,
} from '../value-rule.js';

const PERMISSIONS = ['session:read', 'session:reject', 'session:renew', 'payload:encrypt', 'payload:decrypt'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** In a policy: every merchant, including those that are configured later. */
export const EVERY_MERCHANT = '*';

const policyMerchant: TextRule = {
  expects: "the id of a merchant, or '*' for all of them",
  accepts: (value) => value === EVERY_MERCHANT || merchantId.accepts(value),
};

/** TLS of the server side, and the authorities whose client certificates name callers. */
export class HttpTlsSettings {
  @text(
    'PEM certificate of the server, with its chain. A `tls` section turns on TLS 1.2 and 1.3.',
    fileOf(certificates),
  )
  readonly certFile!: FileName<string>;

  @text('PEM key of that certificate.', fileOf(privateKey))
  readonly keyFile!: FileName<string>;

  @text(
    'PEM certificates of the authorities that issue client certificates; those identify callers.',
    fileOf(certificates),
    { optional: true },
  )
  readonly clientCaFile?: FileName<string>;
}

/**
 * A static bearer token, known to the broker only by its hash. A caller may have several while one is being replaced.
 */
class TokenSettings {
  @text('Name of the caller, as policies and logs use it.', callerName)
  readonly caller!: string;

  /** In lower case. */
  @text('SHA-256 of the bearer token. The token itself is not stored anywhere.', sha256Hex)
  readonly sha256!: string;
}

class PolicySettings {
  @text(
    'The caller of a token, the `sub` of a JWT, or the name of a certificate. Several policies of one caller add up.',
    callerName,
  )
  readonly caller!: string;

  @texts('The merchants that the policy applies to.', policyMerchant, 1)
  readonly merchants!: readonly string[];

  @texts('What the caller may do with them.', oneWordOf(PERMISSIONS), 1)
  readonly allow!: readonly Permission[];

  @flag(
    'Whether the policy applies only to a credential that is bound to the client certificate of the connection (RFC 8705): that certificate, or a JWT with its `cnf.x5t#S256`. Needs `auth.mtls`.',
  )
  readonly boundTokens: boolean = false;
}

/** Callers with JSON Web Tokens of one issuer, such as Kubernetes' projected service-account tokens. */
export class JwtSettings {
  @text('The `iss` of the tokens; it must match character by character.', issuer)
  readonly issuer!: string;

  @text('Must be in the `aud` of a token.', audience)
  readonly audience!: string;

  @texts(
    'The header `typ` of a token must be one of these. Empty: access tokens and tokens of no particular type are accepted, unless they look like an ID or a logout token.',
    mediaType,
    0,
  )
  readonly types: readonly string[] = [];

  @text('Where the issuer publishes its keys. Exactly one of `jwksUri` and `jwksFile`.', jwksUri, { optional: true })
  readonly jwksUri?: URL;

  @text("A file with the issuer's keys, as a JSON Web Key Set.", fileOf(keySet), { optional: true })
  readonly jwksFile?: FileName<JsonWebKeySet>;

  @text(
    'Bearer token for `jwksUri`, read again for each request; Kubernetes requires one. The file may be created after the start; until then there is a warning.',
    fileOf(bearerToken('no keys are fetched, and no token of the issuer is accepted')),
    { optional: true },
  )
  readonly jwksTokenFile?: FileName<string>;

  @text('PEM certificates to trust for `jwksUri` in place of the built-in authorities.', fileOf(certificates), {
    optional: true,
  })
  readonly jwksCaFile?: FileName<string>;

  @text('By how much the clocks of issuer and broker may differ.', durationBetween('0s', '5m'))
  readonly clockToleranceMs: number = durationMs('5s');
}

export class AuthSettings {
  @list(TokenSettings, 0) readonly tokens: readonly TokenSettings[] = [];
  @list(PolicySettings, 0) readonly policies: readonly PolicySettings[] = [];

  @flag(
    'Let everyone in. Accepted only while `http.host` is a loopback address, and without any other setting of `auth`.',
  )
  readonly disabled: boolean = false;

  @section(JwtSettings, { optional: true }) readonly jwt?: JwtSettings;

  @flag('Client certificates identify callers: by URI SAN, else DNS SAN, else CN. Needs `http.tls.clientCaFile`.')
  readonly mtls: boolean = false;
}
