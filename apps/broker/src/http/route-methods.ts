import { Injectable } from '@nestjs/common';
import type { FastifyRequest, RouteOptions } from 'fastify';
import { BrokerError } from '#libs/errors';

interface KnownRoute {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** Knows which methods a path has, to answer 405 with `Allow` where the router only says "not found". */
@Injectable()
export class RouteMethods {
  readonly #routes = new Map<string, KnownRoute>();

  note(route: Pick<RouteOptions, 'url' | 'method'>): void {
    const known = this.#routes.get(route.url) ?? { pattern: patternOf(route.url), methods: new Set<string>() };
    for (const method of [route.method].flat()) known.methods.add(method.toUpperCase());
    this.#routes.set(route.url, known);
  }

  /** The methods of the request's path; empty when there is no such path. */
  allowed(request: FastifyRequest): readonly string[] {
    const path = request.url.split('?', 1)[0] ?? '';
    const matching = [...this.#routes.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(matching.flatMap(({ methods }) => [...methods]))].sort();
  }

  /** A path that exists under another method is not "not found". */
  refine(error: BrokerError, request: FastifyRequest): BrokerError {
    const isWrongMethod = error.code === 'route_not_found' && this.allowed(request).length > 0;
    return isWrongMethod ? new BrokerError('method_not_allowed', { cause: error }) : error;
  }
}

/** Route patterns have literal segments and `:name` parameters only; a wildcard serves documents, never a resource. */
function patternOf(url: string): RegExp {
  const segments = url.split('/').map((segment) => {
    if (segment.startsWith(':')) return '[^/]+';
    return segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${segments.join('/')}$`);
}
