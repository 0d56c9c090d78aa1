import { applyDecorators, Header, HttpCode } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest, RouteOptions } from 'fastify';
import type { Permission } from '#libs/configuration';
import { Requires } from '../auth/access.guard.js';
import {
  ApiBearerAuth,
  ApiBody,
  ApiOperation,
  type ApiOperationOptions,
  ApiResponse,
  type ApiResponseOptions,
  ApiTags,
} from '../docs/api-decorators.js';
import { MerchantParameter, NO_STORE, type ProblemStatus, Problems } from '../docs/route-documents.js';

/** Everything in the API that concerns merchants is below this. */
export const MERCHANTS_PATH = 'v1/merchants';

/** The current session of a merchant, below the merchants. */
export const SESSION_PATH = ':merchant/session';

/** The session as the headers of a request, for proxies. */
export const SESSION_HEADERS_PATH = `${SESSION_PATH}/headers`;

/** The same for Envoy, which accepts only 200 as a yes. */
export const EXT_AUTHZ_PATH = `${SESSION_HEADERS_PATH}/ext_authz`;

/** A route below one merchant. */
export interface MerchantRoute {
  readonly Params: { readonly merchant: string };
  readonly Querystring: Readonly<Record<string, unknown>>;
}

interface MerchantRouteDocument extends ApiOperationOptions {
  readonly tag: string;
  /** The class of its JSON body. `none`: it takes no body; one that is sent anyway is read and has no effect. */
  readonly body?: (new () => object) | 'none';
  /** Its body is a text of up to this many octets, however its JSON is escaped. */
  readonly maxTextBytes?: number;
  /** By default with the status 200, and not to be stored. */
  readonly answer: ApiResponseOptions;
  /** Refusals beyond those that all such routes have. */
  readonly problems?: readonly ProblemStatus[];
}

/** The longest JSON escape for one octet of text, such as `\u0000`: programs choose how they write what they send. */
const ESCAPED_OCTET = 6;
/** The members around a text: names, an encoding, a key. */
const MAX_ENVELOPE_BYTES = 4_096;

interface RouteBody {
  readonly maxBytes?: number;
}

/** A route below one merchant: the permission that it needs, and what the contract says of it. */
export function ForMerchant(permission: Permission, route: MerchantRouteDocument): MethodDecorator {
  const { tag, body, maxTextBytes, answer, problems = [], ...operation } = route;
  const { status = 200, headers = NO_STORE } = answer;
  const maxBytes = maxTextBytes === undefined ? undefined : ESCAPED_OCTET * maxTextBytes + MAX_ENVELOPE_BYTES;
  return applyDecorators(
    Requires(permission),
    RouteConfig({ maxBytes: body === 'none' ? 0 : maxBytes }),
    HttpCode(Number(status)),
    ...(headers === NO_STORE ? [Header('cache-control', 'no-store')] : []),
    ApiTags(tag),
    ApiBearerAuth(),
    ApiOperation(operation),
    MerchantParameter(),
    ...(body === undefined || body === 'none' ? [] : [ApiBody({ type: body })]),
    ApiResponse({ ...answer, status, headers }),
    Problems(400, 401, 403, 404, 414, 503, ...problems),
    ...(body === undefined ? [] : [Problems(413, 415)]),
    ...(permission === 'session:read' ? [] : [Problems(429)]),
  );
}

/** Called for each route as it is added. */
export function boundBody(route: RouteOptions): void {
  const { maxBytes = 0 } = (route.config ?? {}) as RouteBody;
  if (maxBytes > 0) route.bodyLimit = maxBytes;
}

/** Many programs send a content type even without a body; if it stayed, the parser would demand a body. */
export function passOverEmptyBody({ routeOptions, headers }: FastifyRequest): void {
  const { maxBytes } = (routeOptions.config ?? {}) as RouteBody;
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  if (maxBytes === 0 && length === '0' && coding === undefined) delete headers['content-type'];
}
