import { flag, list, section, text, texts } from '../setting.js';
import { callerName, merchantId, sha256Hex, type TextRule } from '../value-rule.js';
import { JwtSettings } from './jwt-settings.js';

export const PERMISSIONS = ['session:read', 'session:reject', 'payload:encrypt', 'payload:decrypt'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** In a policy: every merchant, also those that are configured later. */
export const EVERY_MERCHANT = '*';

const permission: TextRule = {
  expects: `one of ${PERMISSIONS.join(', ')}`,
  accepts: (value) => PERMISSIONS.some((known) => known === value),
};

const policyMerchant: TextRule = {
  expects: "the id of a merchant, or '*' for all of them",
  accepts: (value) => value === EVERY_MERCHANT || merchantId.accepts(value),
};

/** A static bearer token, known to the broker by its hash alone. A caller may have several while one is replaced. */
export class TokenSettings {
  @text('Name of the caller, as policies and logs use it.', callerName)
  readonly caller!: string;

  @text('SHA-256 of the bearer token. The token itself is nowhere.', sha256Hex)
  readonly sha256!: string;
}

export class PolicySettings {
  @text(
    "A caller: of a token, the `sub` of a JWT, or a certificate's name. Several policies of one add up.",
    callerName,
  )
  readonly caller!: string;

  @texts('The merchants that the policy is about.', policyMerchant, 1)
  readonly merchants!: string[];

  @texts('What the caller may do with them.', permission, 1)
  readonly allow!: Permission[];
}

export class AuthSettings {
  @list(TokenSettings, 0) readonly tokens: TokenSettings[] = [];
  @list(PolicySettings, 0) readonly policies: PolicySettings[] = [];

  @flag('Let everyone in. Only while `http.host` is a loopback address, and without any other setting of `auth`.')
  readonly disabled: boolean = false;

  @section(JwtSettings, { optional: true }) readonly jwt?: JwtSettings;

  @flag('Client certificates name callers: by URI SAN, DNS SAN or CN. Needs `http.tls.clientCaFile`.')
  readonly mtls: boolean = false;
}
