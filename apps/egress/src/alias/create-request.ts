import type { GatewayError } from '../answers/gateway-error.js';

export interface CreateRequest {
  readonly body: Uint8Array;
  readonly query: URLSearchParams;
}

/** Which alias a create call names, or why that cannot be determined. */
export type NamedAlias = { readonly serviceCode: string } | { readonly refused: GatewayError };

const MEMBER = 'serviceCode';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const notJson = refusal({ status: 400, msgCode: 'b_error_parse_json', msgText: 'The body is not JSON' });
const notObject = refusal({
  status: 400,
  msgCode: 'b_request_is_not_correct',
  msgText: 'The body must be a JSON object',
});
const contradiction = refusal({
  status: 400,
  msgCode: 'b_request_is_not_correct',
  msgText: 'The body and the query give different serviceCodes',
});
const noServiceCode: NamedAlias = {
  refused: {
    status: 200,
    msgCode: 'b_invalid_request',
    msgType: 'VALIDATION_ERROR',
    msgText: 'serviceCode must be a UUID',
  },
};

/**
 * The alias in a create call: in the body, as documented, or in the query, as sent by published clients, which leave
 * the body empty. Unknown members are accepted, as the gateway does.
 * @returns the alias in lower case
 */
export function aliasNamedBy({ body, query }: CreateRequest): NamedAlias {
  const members = membersOf(body);
  if ('refused' in members) return members;
  const given = [members.serviceCode, ...query.getAll(MEMBER)].filter((code) => code !== undefined);
  const codes = new Set(given.map((code) => (typeof code === 'string' ? code.toLowerCase() : undefined)));
  if (codes.size > 1) return contradiction;
  const [serviceCode] = codes;
  return serviceCode !== undefined && UUID.test(serviceCode) ? { serviceCode } : noServiceCode;
}

function membersOf(body: Uint8Array): { readonly serviceCode: unknown } | { readonly refused: GatewayError } {
  const text = Buffer.from(body).toString('utf8').trim();
  if (text === '') return { serviceCode: undefined };
  const value = jsonIn(text);
  if (value === undefined) return notJson;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return notObject;
  return { serviceCode: (value as Readonly<Record<string, unknown>>)[MEMBER] };
}

/** Undefined is not a JSON value. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own error is dropped on purpose: it quotes the body, which names a secret.
    return undefined;
  }
}

function refusal(error: Omit<GatewayError, 'msgType'>): { readonly refused: GatewayError } {
  return { refused: { ...error, msgType: 'ERROR' } };
}
