import { applyDecorators } from '@nestjs/common';
import type { ApiResponseOptions, OpenAPIObject } from '@nestjs/swagger';
import { MERCHANT_ID } from '#libs/configuration';
import {
  ApiExtraModels,
  ApiParam,
  ApiProperty,
  ApiQuery,
  ApiResponse,
  Member,
  OptionalMember,
  schemaPathOf,
} from './api-decorators.js';

type Headers = NonNullable<ApiResponseOptions['headers']>;
type Components = NonNullable<OpenAPIObject['components']>;

type Header = Extract<NonNullable<Components['headers']>[string], { readonly schema?: unknown }>;

/** A header that every answer of its kind has. */
const always = (description: string, schema: Header['schema'] = { type: 'string' }): Header => ({
  description,
  required: true,
  schema,
});

/** Response headers, each described once for the whole contract. */
const HEADER_COMPONENTS = {
  RequestId: always('The id that was sent with the request, or a new one. The log has it as well.', {
    type: 'string',
    pattern: '^[A-Za-z0-9._-]{1,64}$',
  }),
  ContentTypeOptions: always('Always `nosniff`.'),
  ContentSecurityPolicy: always('Allows a browser nothing.'),
  ReferrerPolicy: always('Always `no-referrer`.'),
  ResourcePolicy: always('Always `same-origin`.'),
  StrictTransport: { description: 'A year, where the broker itself has TLS.', schema: { type: 'string' } },
  Generation: always('The generation of the session, in quotes.'),
  UntilRenewal: always('`private`, with a `max-age` that reaches to `renewAt`: nothing newer can be expected before.', {
    type: 'string',
    pattern: '^private, max-age=\\d+$',
  }),
  NoStore: always('The answer must not be stored.', { type: 'string', enum: ['no-store'] }),
  WaitApplied: {
    description: 'RFC 7240: the `wait` that was applied, at most 60. Absent without one in the request.',
    schema: { type: 'string', pattern: '^wait=\\d+$' },
  },
  RetryAfter: always('Seconds after which to ask again.', { type: 'integer', format: 'int32', minimum: 1 }),
  Challenge: always('RFC 9110, section 11.6.1.'),
  ScopeChallenge: { description: 'RFC 6750, section 3. Absent where no token was sent.', schema: { type: 'string' } },
  ApiVersion: always('The version of the gateway that later requests name.', { type: 'string', enum: ['V1'] }),
  DeviceId: always('The `deviceId` of the session. Secret.', { type: 'string', format: 'uuid' }),
  RefreshToken: {
    description: 'The `refreshToken` of the session. Secret. Absent where the session has none.',
    schema: { type: 'string', format: 'uuid' },
  },
  Unbuffered: always('Asks proxies to pass each event on as it comes.', { type: 'string', enum: ['no'] }),
} satisfies Components['headers'];

const refer = (component: keyof typeof HEADER_COMPONENTS): { readonly $ref: string } => ({
  $ref: `#/components/headers/${component}`,
});

/** For a session that was read. */
export const SESSION_HEADERS: Headers = {
  ETag: refer('Generation'),
  'Cache-Control': refer('UntilRenewal'),
  'Preference-Applied': refer('WaitApplied'),
};
/** For a session created because of a rejection. */
export const NEWER_SESSION_HEADERS: Headers = { ETag: refer('Generation'), 'Cache-Control': refer('NoStore') };
/** For a session that is put on a request as headers. */
export const FORWARDED_HEADERS: Headers = {
  ...NEWER_SESSION_HEADERS,
  'x-api_version': refer('ApiVersion'),
  'x-device_id': refer('DeviceId'),
  'x-refresh_token': refer('RefreshToken'),
};
export const NO_STORE: Headers = { 'Cache-Control': refer('NoStore') };
export const STREAM_HEADERS: Headers = { ...NO_STORE, 'X-Accel-Buffering': refer('Unbuffered') };
const RETRY_AFTER: Headers = { 'Retry-After': refer('RetryAfter') };
const CHALLENGE: Headers = { 'WWW-Authenticate': refer('Challenge') };
const SCOPE_CHALLENGE: Headers = { 'WWW-Authenticate': refer('ScopeChallenge') };

const OF_EVERY_ANSWER: Headers = {
  'X-Request-Id': refer('RequestId'),
  'X-Content-Type-Options': refer('ContentTypeOptions'),
  'Content-Security-Policy': refer('ContentSecurityPolicy'),
  'Referrer-Policy': refer('ReferrerPolicy'),
  'Cross-Origin-Resource-Policy': refer('ResourcePolicy'),
  'Strict-Transport-Security': refer('StrictTransport'),
};

/** The contract, with the headers that every response has and the components that all headers refer to. */
export function withHeaders(document: OpenAPIObject): OpenAPIObject {
  const operations = Object.values(document.paths).flatMap(({ get, post }) => [get, post]);
  for (const operation of operations) {
    for (const response of Object.values(operation?.responses ?? {})) {
      if (response !== undefined && !('$ref' in response))
        response.headers = { ...OF_EVERY_ANSWER, ...response.headers };
    }
  }
  return { ...document, components: { ...document.components, headers: HEADER_COMPONENTS } };
}

/** RFC 9457. */
export class ProblemDocument {
  @ApiProperty({ example: 'urn:session-broker:problem:session_unavailable' })
  readonly type: string;

  @ApiProperty({ example: 'There is no session to serve at the moment' })
  readonly title: string;

  @ApiProperty({ type: 'integer', format: 'int32', minimum: 400, maximum: 599, example: 503 })
  readonly status: number;

  @Member('Stable; see docs/reference/errors.md.', { example: 'session_unavailable' })
  readonly code: string;

  @OptionalMember(
    'With `session_unavailable`: why, in a stable word; see docs/reference/errors.md. More of them may come.',
    {
      example: 'transient',
    },
  )
  readonly reason?: string;

  @OptionalMember('Text for people.')
  readonly detail?: string;

  @OptionalMember(
    'With `session_unavailable` and `foreign_authorizer`: what is the matter, in a sentence for people. Absent ' +
      'where nobody knows.',
    { example: 'the bank refuses: b_merchant_not_found' },
  )
  readonly cause?: string;

  @Member('Also in the header x-request-id and in the log.')
  readonly requestId: string;
}

/** A public P-384 key. */
export class PublicKeyDocument {
  @ApiProperty({ enum: ['EC'] })
  readonly kty: string;

  @ApiProperty({ enum: ['P-384'] })
  readonly crv: string;

  @Member('base64url', { example: '--mRoBKIOvX64XX0l-CPpVCAapwyNZ6VzsBdD5R2dLkFgVtqqvnNB-KWwHtG_22e' })
  readonly x: string;

  @Member('base64url', { example: 'PFQGZA48J5kQ9m7rzTZk405DaS4Xd3yhGv8RWnS1bNef48dG3HoFyM_4Ln7rY5wK' })
  readonly y: string;
}

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

export type ProblemStatus = keyof typeof PROBLEMS;

/** The refusals of a route, each as problem details (RFC 9457). */
export function Problems(...statuses: readonly ProblemStatus[]): MethodDecorator {
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
  return ApiParam({
    name: 'merchant',
    example: 'shop',
    description: "The merchant's id in the configuration.",
    schema,
  });
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
