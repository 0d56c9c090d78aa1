import { type BrokerConfiguration, EVERY_MERCHANT, type Permission } from '#libs/configuration';
import type { Caller } from './caller.js';

type Policies = Pick<BrokerConfiguration, 'merchants'> & {
  readonly auth: Pick<BrokerConfiguration['auth'], 'disabled' | 'policies'>;
};

/** Merchants by caller, then by permission. */
type Allowed = Map<string, Map<Permission, Set<string>>>;

/** The policies of one configuration, indexed for fast lookup. */
export class Grants {
  readonly merchants: ReadonlySet<string>;
  readonly #disabled: boolean;
  /** What is allowed with any credential, and what only with a credential bound to the caller's certificate. */
  readonly #allowed: Allowed = new Map();
  readonly #allowedBound: Allowed = new Map();

  constructor({ auth, merchants }: Policies) {
    this.merchants = new Set(merchants.map(({ id }) => id));
    this.#disabled = auth.disabled;
    for (const policy of auth.policies) {
      grant(policy.boundTokens ? this.#allowedBound : this.#allowed, policy);
    }
  }

  /** Whether the caller may do this for every merchant, present or future. */
  allowsEverywhere(caller: Caller, permission: Permission): boolean {
    return this.#disabled || this.#has(caller, EVERY_MERCHANT, permission);
  }

  /** Nothing is allowed for a merchant that is not configured. */
  allows(caller: Caller, merchant: string, permission: Permission): boolean {
    if (!this.merchants.has(merchant)) return false;
    return this.#has(caller, merchant, permission) || this.allowsEverywhere(caller, permission);
  }

  #has({ name, certificate }: Caller, merchant: string, permission: Permission): boolean {
    const has = (allowed: Allowed): boolean => allowed.get(name)?.get(permission)?.has(merchant) === true;
    return has(this.#allowed) || (certificate !== undefined && has(this.#allowedBound));
  }
}

function grant(allowed: Allowed, { caller, allow, merchants }: BrokerConfiguration['auth']['policies'][number]): void {
  const grants = allowed.get(caller) ?? new Map<Permission, Set<string>>();
  for (const permission of allow) {
    grants.set(permission, new Set([...(grants.get(permission) ?? []), ...merchants]));
  }
  allowed.set(caller, grants);
}
