import { Injectable } from '@nestjs/common';
import { type BrokerConfiguration, EVERY_MERCHANT, type Permission } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import type { Caller } from './caller.js';

type Policies = Pick<BrokerConfiguration, 'merchants'> & {
  readonly auth: Pick<BrokerConfiguration['auth'], 'disabled' | 'policies'>;
};

/** Merchants by caller, then by permission. */
type Allowed = Map<string, Map<Permission, Set<string>>>;

/** The policies of one configuration, indexed for fast lookup. */
class Grants {
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

/** Who may do what for which merchant. Whatever no policy allows is refused. */
@Injectable()
export class PolicyTable {
  readonly #grants: () => Grants;

  constructor(configuration: ConfigurationInForce) {
    this.#grants = configuration.derive((next) => new Grants(next));
  }

  allows(caller: Caller, merchant: string, permission: Permission): boolean {
    return this.#grants().allows(caller, merchant, permission);
  }

  /**
   * A merchant outside the caller's policy and one that does not exist are refused in the same way, so that nobody can
   * find out which merchants exist. Only a caller that may see every merchant is told that one does not exist.
   * @throws BrokerError `forbidden` or `merchant_not_found`
   */
  assertAllowed(caller: Caller, merchant: string, permission: Permission): void {
    const grants = this.#grants();
    if (grants.allows(caller, merchant, permission)) return;
    if (!grants.merchants.has(merchant) && grants.allowsEverywhere(caller, permission)) {
      throw new BrokerError('merchant_not_found');
    }
    throw new BrokerError('forbidden', {
      publicDetail: `this needs the permission ${permission} for the merchant, or there is no such merchant`,
    });
  }

  /** The merchants for which the caller may do this, in configuration order. */
  merchantsFor(caller: Caller, permission: Permission): readonly string[] {
    const grants = this.#grants();
    return [...grants.merchants].filter((merchant) => grants.allows(caller, merchant, permission));
  }
}
