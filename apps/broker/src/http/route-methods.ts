import { Injectable } from '@nestjs/common';
import type { FastifyRequest, RouteOptions } from 'fastify';
import { BrokerError } from '#libs/errors';
import { OPEN_API_PATH } from '../docs/api-decorators.js';

/** What is most often mistaken for the base URL: one with `/v1` in it, or with a slash at its end. */
const BEFORE_THE_LAST =
  'the base URL ends before /v1, without a slash: leave out what comes before the last /v1 of this path';

/**
 * Where payments and create calls go: a client that asks for them here uses the broker's URL in place of the egress's.
 */
const OF_THE_GATEWAY = /^\/{1,2}(?:ecom|api-gateway)\//;
const SEE_CONTRACT = `${OPEN_API_PATH} lists the paths`;

const A_BROKER = 'this is a broker: payments go to the egress, or to the gateway with a session of the broker';

/** Knows which methods a path has, so that 405 with `Allow` can be answered where the router only says "not found". */
@Injectable()
export class RouteMethods {
  readonly #routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = [];

  note({ url, method }: Pick<RouteOptions, 'url' | 'method'>): void {
    this.#routes.push({ pattern: patternOf(url), methods: [method].flat().map((one) => one.toUpperCase()) });
  }

  /** The methods of the path; none when it does not exist. */
  of(path: string): readonly string[] {
    const matching = this.#routes.filter(({ pattern }) => pattern.test(path));
    return [...new Set(matching.flatMap(({ methods }) => methods))].sort();
  }

  /**
   * A path that exists under another method is not "not found", and one that is only wrong at its beginning gets a
   * hint.
   */
  refine(error: BrokerError, request: FastifyRequest): BrokerError {
    const path = pathOf(request);
    const isUnknown = error.code === 'route_not_found';
    if ((isUnknown || error.code === 'unauthenticated') && OF_THE_GATEWAY.test(path)) return hinted(error, A_BROKER);
    if (!isUnknown) return error;
    if (this.of(path).length > 0) return new BrokerError('method_not_allowed', { cause: error });
    const end = path.slice(Math.max(0, path.lastIndexOf('/v1/')));
    if (end !== path && this.of(end).length > 0) return hinted(error, BEFORE_THE_LAST);
    // They may be switched off.
    return this.of(OPEN_API_PATH).length === 0 ? error : hinted(error, SEE_CONTRACT);
  }
}

/** The same failure, with a hint at the right address. */
function hinted({ code, detail, cause }: BrokerError, publicDetail: string): BrokerError {
  return new BrokerError(code, { publicDetail, cause, ...(detail === undefined ? {} : { detail }) });
}

/** Without the query. */
export function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? '';
}

/** Route patterns have literal segments and `:name` parameters only; a wildcard serves documents, never a resource. */
function patternOf(url: string): RegExp {
  const segments = url.split('/').map((segment) => {
    if (segment.startsWith(':')) return '[^/]+';
    return segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${segments.join('/')}$`);
}
