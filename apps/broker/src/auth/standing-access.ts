import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Permission } from '#libs/configuration';
import { Authenticator } from './authenticator.service.js';
import { setCaller } from './caller.js';
import { PolicyTable } from './policy-table.js';

interface Asked {
  readonly merchant: string;
  readonly permission: Permission;
}

/**
 * Whether a request that was let in would still be: a token, a policy, an authority or a key may be gone since. Asked
 * whenever something is handed out that did not exist when the request came.
 */
@Injectable()
export class StandingAccess {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly policies: PolicyTable,
  ) {}

  /** At once, and so without a check of a signature: a token that is no longer remembered is not known. */
  stands(request: Pick<IncomingMessage, 'headers' | 'socket'>, { merchant, permission }: Asked): boolean {
    const caller = this.authenticator.known(request);
    return caller !== undefined && this.policies.allows(caller, merchant, permission);
  }

  /** @throws BrokerError what the request would be refused with if it came now */
  async assertStands(
    request: FastifyRequest<{ Params: { readonly merchant: string } }>,
    permission: Permission,
  ): Promise<void> {
    const caller = await this.authenticator.authenticate(request.raw);
    this.policies.assertAllowed(caller, request.params.merchant, permission);
    setCaller(request, caller);
  }
}
