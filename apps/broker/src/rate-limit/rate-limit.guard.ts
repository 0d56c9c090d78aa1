import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { Clock } from '#libs/clock';
import { isSame } from '#libs/configuration';
import { RateLimiter } from '#libs/edge';
import { BrokerError } from '#libs/errors';
import { ACCESS, type Access } from '../auth/access.js';
import { callerOf } from '../auth/caller.js';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { CLOCK } from '../platform/tokens.js';

const LIMITED = 'rejections, renewals, payloads and notifications of a caller are counted; reads are not';

/**
 * Limits what one caller may ask of a replica beyond reads. It runs after the policies: only callers that have the
 * permission are counted, so there are never more of them than policies.
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  readonly #limiter: () => RateLimiter;

  constructor(
    private readonly reflector: Reflector,
    configuration: ConfigurationInForce,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.#limiter = configuration.derive(({ http }, before) =>
      before !== undefined && isSame(before.configuration.http.rateLimit, http.rateLimit)
        ? before.made
        : new RateLimiter(http.rateLimit, clock),
    );
  }

  /** @throws BrokerError `rate_limited` */
  canActivate(context: ExecutionContext): boolean {
    const access = this.reflector.get<Access | undefined>(ACCESS, context.getHandler());
    if (access?.scope !== 'merchant' || access.permission === 'session:read') return true;
    const caller = callerOf(context.switchToHttp().getRequest<FastifyRequest>());
    const retryAfterMs = caller === undefined ? 0 : this.#limiter().take(caller.name);
    if (retryAfterMs === 0) return true;
    throw new BrokerError('rate_limited', { detail: `caller ${caller?.name}`, publicDetail: LIMITED, retryAfterMs });
  }
}
