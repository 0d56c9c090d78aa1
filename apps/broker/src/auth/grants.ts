import { type BrokerConfiguration, EVERY_MERCHANT, type Permission } from '#libs/configuration';
import type { Caller } from './caller.js';

type Policies = Pick<BrokerConfiguration, 'merchants'> & {
  readonly auth: Pick<BrokerConfiguration['auth'], 'disabled' | 'policies'>;
};

/** The policies of one configuration, for quick answers. */
export class Grants {
  readonly merchants: ReadonlySet<string>;
  readonly #disabled: boolean;
  /** By caller, then permission: the merchants. */
  readonly #allowed = new Map<string, Map<Permission, Set<string>>>();

  constructor({ auth, merchants }: Policies) {
    this.merchants = new Set(merchants.map(({ id }) => id));
    this.#disabled = auth.disabled;
    for (const policy of auth.policies) {
      for (const permission of policy.allow) this.#grant(policy.caller, permission, policy.merchants);
    }
  }

  /** Whether the caller may do this with every merchant there is or will be. */
  allowsEverywhere(caller: Caller, permission: Permission): boolean {
    return this.#disabled || this.#has(caller, EVERY_MERCHANT, permission);
  }

  /** Nothing is allowed with a merchant that is not configured. */
  allows(caller: Caller, merchant: string, permission: Permission): boolean {
    if (!this.merchants.has(merchant)) return false;
    return this.#has(caller, merchant, permission) || this.allowsEverywhere(caller, permission);
  }

  #grant(caller: string, permission: Permission, merchants: readonly string[]): void {
    const grants = this.#allowed.get(caller) ?? new Map<Permission, Set<string>>();
    const granted = grants.get(permission) ?? new Set<string>();
    for (const merchant of merchants) granted.add(merchant);
    this.#allowed.set(caller, grants.set(permission, granted));
  }

  #has(caller: Caller, merchant: string, permission: Permission): boolean {
    return this.#allowed.get(caller.name)?.get(permission)?.has(merchant) === true;
  }
}
