import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiParam, ApiResponse, type ApiResponseOptions, getSchemaPath } from '@nestjs/swagger';
import { MERCHANT_ID } from '#libs/configuration';
import { ProblemDocument } from './problem-document.js';

type Headers = NonNullable<ApiResponseOptions['headers']>;

const RETRY_AFTER: Headers = {
  'Retry-After': { description: 'Seconds after which to ask again.', schema: { type: 'integer', minimum: 1 } },
};
const CHALLENGE: Headers = {
  'WWW-Authenticate': { description: 'RFC 9110, section 11.6.1.', schema: { type: 'string' } },
};

const PROBLEMS = {
  400: { description: 'The request is not valid.' },
  401: { description: 'No credential, or none that is known.', headers: CHALLENGE },
  403: { description: 'The caller may not do this, or there is no such merchant: which of the two is not told.' },
  413: { description: 'The body is too large.' },
  415: { description: 'The body is not JSON.' },
  422: { description: 'The JWE opens with no key of the merchant.' },
  429: { description: 'The caller asks too often.', headers: RETRY_AFTER },
  503: { description: 'There is nothing to answer with at the moment.', headers: RETRY_AFTER },
} as const;

/** The refusals of a route, each as problem details (RFC 9457). */
export function Problems(...statuses: readonly (keyof typeof PROBLEMS)[]): MethodDecorator {
  const content = { 'application/problem+json': { schema: { $ref: getSchemaPath(ProblemDocument) } } };
  const responses = statuses.map((status) => ApiResponse({ status, content, ...PROBLEMS[status] }));
  return applyDecorators(ApiExtraModels(ProblemDocument), ...responses);
}

/** A route below one merchant. */
export function MerchantParameter(): MethodDecorator {
  const schema = { type: 'string', pattern: MERCHANT_ID } as const;
  return ApiParam({
    name: 'merchant',
    example: 'shop',
    description: "The merchant's id in the configuration.",
    schema,
  });
}

/** The header that names a session's generation. */
export const ETAG: Headers = {
  ETag: { description: 'The generation of the session, in quotes.', schema: { type: 'string' } },
};
