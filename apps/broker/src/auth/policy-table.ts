import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type BrokerConfiguration, EVERY_MERCHANT, type Permission } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { Authenticator } from './authenticator.service.js';
import type { Caller } from './caller.js';

/** Merchants by permission and caller. */
type Allowed = ReadonlyMap<string, ReadonlySet<string>>;

interface Grants {
  readonly disabled: boolean;
  readonly merchants: ReadonlySet<string>;
  /** What is allowed with any credential, and what only with a credential bound to the caller's certificate. */
  readonly allowed: Allowed;
  readonly allowedBound: Allowed;
}

/** Who may do what for which merchant. Whatever no policy allows is refused. */
@Injectable()
export class PolicyTable {
  readonly #grants: () => Grants;

  constructor(configuration: ConfigurationInForce) {
    this.#grants = configuration.derive(({ auth: { disabled, policies }, merchants }) => ({
      disabled,
      merchants: new Set(merchants.map(({ id }) => id)),
      allowed: allowedBy(policies.filter(({ boundTokens }) => !boundTokens)),
      allowedBound: allowedBy(policies.filter(({ boundTokens }) => boundTokens)),
    }));
  }

  /** Nothing is allowed for a merchant that is not configured. */
  allows(caller: Caller, merchant: string, permission: Permission): boolean {
    if (!this.#grants().merchants.has(merchant)) return false;
    return this.#has(caller, merchant, permission) || this.#hasEveryMerchant(caller, permission);
  }

  /**
   * A merchant outside the caller's policy and one that does not exist are refused in the same way, so that nobody can
   * find out which merchants exist. Only a caller that may see every merchant is told that one does not exist.
   * @throws BrokerError `forbidden` or `merchant_not_found`
   */
  assertAllowed(caller: Caller, merchant: string, permission: Permission): void {
    if (this.allows(caller, merchant, permission)) return;
    if (!this.#grants().merchants.has(merchant) && this.#hasEveryMerchant(caller, permission)) {
      throw new BrokerError('merchant_not_found');
    }
    throw new BrokerError('forbidden', {
      publicDetail: `this needs the permission ${permission} for the merchant, or there is no such merchant`,
    });
  }

  /** The merchants for which the caller may do this, in configuration order. */
  merchantsFor(caller: Caller, permission: Permission): readonly string[] {
    return [...this.#grants().merchants].filter((merchant) => this.allows(caller, merchant, permission));
  }

  /** Whether the caller may do this for every merchant, present or future. */
  #hasEveryMerchant(caller: Caller, permission: Permission): boolean {
    return this.#grants().disabled || this.#has(caller, EVERY_MERCHANT, permission);
  }

  #has({ name, certificate }: Caller, merchant: string, permission: Permission): boolean {
    const { allowed, allowedBound } = this.#grants();
    const key = `${permission} ${name}`;
    if (allowed.get(key)?.has(merchant) === true) return true;
    return certificate !== undefined && allowedBound.get(key)?.has(merchant) === true;
  }
}

function allowedBy(policies: BrokerConfiguration['auth']['policies']): Allowed {
  const allowed = new Map<string, ReadonlySet<string>>();
  for (const { caller, allow, merchants } of policies) {
    for (const permission of allow) {
      const key = `${permission} ${caller}`;
      allowed.set(key, new Set([...(allowed.get(key) ?? []), ...merchants]));
    }
  }
  return allowed;
}

type MerchantRequest = FastifyRequest<{ Params: { readonly merchant: string } }>;

interface Asked {
  readonly merchant: string;
  readonly permission: Permission;
}

/**
 * Whether a request that was let in still would be: its token, policy, authority or key may be gone by now. Checked
 * whenever something is handed out that did not exist when the request came.
 */
@Injectable()
export class StandingAccess {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly policies: PolicyTable,
  ) {}

  /** Synchronous, so without checking a signature: a token that is no longer remembered counts as unknown. */
  stands(request: Pick<IncomingMessage, 'headers' | 'socket'>, { merchant, permission }: Asked): boolean {
    const caller = this.authenticator.known(request);
    return caller !== undefined && this.policies.allows(caller, merchant, permission);
  }

  /**
   * Does work that may wait, then checks access again before anything is revealed about the outcome, good or bad.
   * @throws whatever the work throws; the BrokerError that the request would be refused with if it came now
   */
  async throughout<Result>(
    request: MerchantRequest,
    permission: Permission,
    work: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await work();
    } finally {
      await this.#assertStands(request, permission);
    }
  }

  async #assertStands(request: MerchantRequest, permission: Permission): Promise<void> {
    const caller = await this.authenticator.authenticate(request.raw);
    this.policies.assertAllowed(caller, request.params.merchant, permission);
    request.caller = caller;
  }
}
