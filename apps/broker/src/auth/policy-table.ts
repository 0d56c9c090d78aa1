import { Inject, Injectable } from '@nestjs/common';
import { type BrokerConfiguration, EVERY_MERCHANT, type Permission } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import { CONFIGURATION } from '../tokens.js';
import type { Caller } from './caller.js';

/** Who may do what with which merchant. What no policy allows is refused. */
@Injectable()
export class PolicyTable {
  readonly #configuration: BrokerConfiguration;
  readonly #merchants: ReadonlySet<string>;
  /** By caller, then permission: the merchants. */
  readonly #allowed = new Map<string, Map<Permission, Set<string>>>();

  constructor(@Inject(CONFIGURATION) configuration: BrokerConfiguration) {
    this.#configuration = configuration;
    this.#merchants = new Set(configuration.merchants.map(({ id }) => id));
    for (const policy of configuration.auth.policies) {
      for (const permission of policy.allow) this.#grant(policy.caller, permission, policy.merchants);
    }
  }

  /**
   * A merchant outside the caller's policy and one that does not exist are refused alike, so that nobody can find out
   * which merchants there are. Only a caller that may see every merchant is told that one does not exist.
   * @throws BrokerError `forbidden` or `merchant_not_found`
   */
  assertAllowed(caller: Caller, merchant: string, permission: Permission): void {
    const everywhere = this.#configuration.auth.disabled || this.#has(caller, EVERY_MERCHANT, permission);
    if (this.#merchants.has(merchant)) {
      if (everywhere || this.#has(caller, merchant, permission)) return;
    } else if (everywhere) {
      throw new BrokerError('merchant_not_found');
    }
    throw new BrokerError('forbidden', { publicDetail: `this needs the permission ${permission} for the merchant` });
  }

  /** The merchants that the caller may do this with, in configuration order. */
  merchantsFor(caller: Caller, permission: Permission): readonly string[] {
    const everywhere = this.#configuration.auth.disabled || this.#has(caller, EVERY_MERCHANT, permission);
    return [...this.#merchants].filter((merchant) => everywhere || this.#has(caller, merchant, permission));
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
