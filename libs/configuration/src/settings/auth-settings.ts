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
  @text(callerName) readonly caller!: string;
  @text(sha256Hex) readonly sha256!: string;
}

export class PolicySettings {
  @text(callerName) readonly caller!: string;
  @texts(policyMerchant, 1) readonly merchants!: string[];
  @texts(permission, 1) readonly allow!: Permission[];
}

export class AuthSettings {
  @list(TokenSettings, 0) readonly tokens: TokenSettings[] = [];
  @list(PolicySettings, 0) readonly policies: PolicySettings[] = [];
  @flag() readonly disabled: boolean = false;
  @section(JwtSettings, { optional: true }) readonly jwt?: JwtSettings;
  @flag() readonly mtls: boolean = false;
}
