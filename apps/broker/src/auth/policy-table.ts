import { Injectable } from '@nestjs/common';
import type { Permission } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import type { Caller } from './caller.js';
import { Grants } from './grants.js';

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
