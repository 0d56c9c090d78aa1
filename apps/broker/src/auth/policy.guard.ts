import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { BrokerError } from '#libs/errors';
import { ACCESS, type Access } from './access.js';
import { callerOf } from './caller.js';
import { PolicyTable } from './policy-table.js';

/** Default deny: a route that does not say what it requires is open to no one. */
@Injectable()
export class PolicyGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly policies: PolicyTable,
  ) {}

  /** @throws BrokerError `unauthenticated`, `forbidden` or `merchant_not_found` */
  canActivate(context: ExecutionContext): boolean {
    const access = this.reflector.get<Access | undefined>(ACCESS, context.getHandler());
    if (access === undefined) throw new BrokerError('forbidden', { detail: 'the route declares no access rule' });
    const request = context.switchToHttp().getRequest<FastifyRequest<{ Params: { merchant?: string } }>>();
    const caller = callerOf(request);
    if (caller === undefined) throw new BrokerError('unauthenticated', { detail: 'the request has no caller' });
    if (access.scope === 'merchant') {
      this.policies.assertAllowed(caller, request.params.merchant ?? '', access.permission);
    }
    return true;
  }
}
