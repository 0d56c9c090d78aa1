import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest, RouteOptions } from 'fastify';

/** The longest JSON escape for one octet of text, such as `\u0000`: programs choose how they write what they send. */
const ESCAPED_OCTET = 6;
/** The members around a text: names, an encoding, a key. */
const MAX_ENVELOPE_BYTES = 4_096;

interface RouteBody {
  readonly maxBytes: number;
}

/** A route that takes a text of up to this many octets, however its JSON is escaped. */
export const TakesText = (maxTextBytes: number): MethodDecorator =>
  RouteConfig({ maxBytes: ESCAPED_OCTET * maxTextBytes + MAX_ENVELOPE_BYTES } satisfies RouteBody);

/** A route that takes no body. If one is sent anyway, it is read like any other and has no effect. */
export const TakesNoBody = (): MethodDecorator => RouteConfig({ maxBytes: 0 } satisfies RouteBody);

/** Called for each route as it is added. */
export function boundBody(route: RouteOptions): void {
  const { maxBytes = 0 } = (route.config ?? {}) as Partial<RouteBody>;
  if (maxBytes > 0) route.bodyLimit = maxBytes;
}

/** Many programs send a content type even without a body; if it stayed, the parser would demand a body. */
export function passOverEmptyBody({ routeOptions, headers }: FastifyRequest): void {
  const { maxBytes } = (routeOptions.config ?? {}) as Partial<RouteBody>;
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  if (maxBytes === 0 && length === '0' && coding === undefined) delete headers['content-type'];
}
