import {
  type CanActivate,
  type CustomDecorator,
  type ExecutionContext,
  Inject,
  Injectable,
  SetMetadata,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { Clock } from '#libs/clock';
import { isSame, type Permission } from '#libs/configuration';
import { RateLimiter } from '#libs/edge';
import { BrokerError } from '#libs/errors';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { CLOCK } from '../platform/platform.js';
import { callerOf } from './caller.js';
import { PolicyTable } from './policy-table.js';

const ACCESS = Symbol('access');

/** A permission is checked for the `merchant` of the path. `any caller`: whoever is authenticated may ask. */
type Access = Permission | 'any caller';

/** What a route requires of its caller. */
export function Requires(access: Access): CustomDecorator<symbol> {
  return SetMetadata(ACCESS, access);
}

const LIMITED = 'rejections, renewals, payloads and notifications of a caller are counted; reads are not';

/**
 * Who may enter, and how often. Default deny: a route that does not say what it requires is open to no one. What a
 * caller asks beyond reads is counted only once the policies allow it: so there are never more counts than policies.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  readonly #limiter: () => RateLimiter;

  constructor(
    private readonly reflector: Reflector,
    private readonly policies: PolicyTable,
    configuration: ConfigurationInForce,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.#limiter = configuration.derive(({ http }, before) =>
      before !== undefined && isSame(before.configuration.http.rateLimit, http.rateLimit)
        ? before.made
        : new RateLimiter(http.rateLimit, clock),
    );
  }

  /** @throws BrokerError `unauthenticated`, `forbidden`, `merchant_not_found` or `rate_limited` */
  canActivate(context: ExecutionContext): boolean {
    const access = this.reflector.get<Access | undefined>(ACCESS, context.getHandler());
    if (access === undefined) throw new BrokerError('forbidden', { detail: 'the route declares no access rule' });
    const request = context.switchToHttp().getRequest<FastifyRequest<{ Params: { merchant?: string } }>>();
    const caller = callerOf(request);
    if (access === 'any caller') return true;
    this.policies.assertAllowed(caller, request.params.merchant ?? '', access);
    const retryAfterMs = access === 'session:read' ? 0 : this.#limiter().take(caller.name);
    if (retryAfterMs === 0) return true;
    throw new BrokerError('rate_limited', { detail: `caller ${caller.name}`, publicDetail: LIMITED, retryAfterMs });
  }
}
