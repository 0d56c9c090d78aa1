import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Permission } from '#libs/configuration';
import { Authenticator } from './authenticator.service.js';
import { PolicyTable } from './policy-table.js';

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
