import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiParam, ApiQuery, ApiResponse, schemaPathOf } from './api-decorators.js';
import { MERCHANT_ID } from '#libs/configuration';
import { CHALLENGE, type Headers, NO_STORE, RETRY_AFTER, SCOPE_CHALLENGE } from './answer-headers.js';
import { ProblemDocument } from './problem-document.js';

interface RefusalDocument {
  readonly description: string;
  readonly headers?: Headers;
}

const PROBLEMS = {
  400: { description: 'The request is not valid.' },
  401: { description: 'No credential, or one that is not known.', headers: CHALLENGE },
  403: {
    description: 'The caller may not do this, or there is no such merchant; the answer does not say which.',
    headers: SCOPE_CHALLENGE,
  },
  404: { description: 'There is no such merchant. Only callers that may do this with every merchant are told.' },
  413: { description: 'The body is too large.' },
  414: { description: 'The path is too long.' },
  415: { description: 'The body is not JSON.' },
  422: { description: 'No key of the merchant opens the JWE, or what it holds is no notification.' },
  429: { description: 'The caller asks too often.', headers: RETRY_AFTER },
  503: { description: 'There is nothing to answer with at the moment.', headers: RETRY_AFTER },
} as const satisfies Readonly<Record<number, RefusalDocument>>;

/** The refusals of a route, each as problem details (RFC 9457). */
export function Problems(...statuses: readonly (keyof typeof PROBLEMS)[]): MethodDecorator {
  const content = { 'application/problem+json': { schema: { $ref: schemaPathOf(ProblemDocument) } } };
  const responses = statuses.map((status) => {
    const { description, headers = {} }: RefusalDocument = PROBLEMS[status];
    return ApiResponse({ status, content, description, headers: { ...NO_STORE, ...headers } });
  });
  return applyDecorators(ApiExtraModels(ProblemDocument), ...responses);
}

/** A route below one merchant. */
export function MerchantParameter(): MethodDecorator {
  const schema = { type: 'string', pattern: MERCHANT_ID } as const;
  const parameter = ApiParam({
    name: 'merchant',
    example: 'shop',
    description: "The merchant's id in the configuration.",
    schema,
  });
  // From the router, for a path that cannot be decoded or has a part that is too long.
  return applyDecorators(parameter, Problems(400, 414));
}

/** A read that needs some time to be left. */
export function MinRemainingQuery(): MethodDecorator {
  return ApiQuery({
    name: 'minRemaining',
    required: false,
    example: '60s',
    description: 'Renew first when less is left; at most 1h.',
    schema: { type: 'string', pattern: '^\\d{1,12}(\\.\\d{1,6})?(ms|s|m|h|d)$' },
  });
}
