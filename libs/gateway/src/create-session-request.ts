import { sealJwe } from '#libs/jwe';
import type { GatewayRequest } from './http-exchange.js';
import type { MerchantGateway } from './merchant-gateway.js';

const DEVICE_TYPE = 'ECOM_MERCHANT_SERVICE_DEVICE';
/** As in the interface description, "Create a technical session". */
const CREATE_PATH = '/api-gateway/authorize_virtual_device';

/** Headers of every request. A compressed body could be small on the wire and huge in memory, so none is accepted. */
export const COMMON_HEADERS = {
  accept: 'application/json, */*;q=0.1',
  'accept-encoding': 'identity',
  'content-type': 'application/json',
  'user-agent': 'session-broker',
} as const;

/** Where create calls go. */
export function createSessionAddress({ baseUrl }: { readonly baseUrl: URL }): URL {
  // Not as a relative reference, in which `//name` would be a host.
  const address = new URL(baseUrl.origin);
  address.pathname = target(baseUrl, CREATE_PATH).path;
  return address;
}

/**
 * Writes the create-session request (interface description, "Create a technical session"): the serviceCode and, if
 * configured, the session request data as a JWE in a body field or a header.
 */
export async function createSessionRequest(
  gateway: MerchantGateway,
): Promise<GatewayRequest & { readonly body: string }> {
  const { requestData, serviceCode } = gateway;
  const { origin, pathname: path } = createSessionAddress(gateway);
  const attached = requestData.attach === 'none' ? {} : { [requestData.name]: await sealRequestData(gateway) };
  return {
    origin,
    path,
    headers: {
      ...(requestData.attach === 'header' ? attached : {}),
      ...COMMON_HEADERS,
      'x-api_version': '1',
    },
    body: JSON.stringify({ ...(requestData.attach === 'body' ? attached : {}), serviceCode }),
  };
}

/** `baseUrl` may have a path, and every call goes below it. */
export function target(baseUrl: URL, path: string): Pick<GatewayRequest, 'origin' | 'path'> {
  return { origin: baseUrl.origin, path: `${baseUrl.pathname.replace(/\/+$/, '')}${path}` };
}

/** Names the newest client key, which the answer is to be sealed to. */
async function sealRequestData({ requestData, clientKeys }: MerchantGateway): Promise<string> {
  const newest = clientKeys[0];
  if (requestData.attach === 'none' || newest === undefined) throw new TypeError('there is no request data to seal');
  const { kty, crv, x, y } = newest.publicJwk;
  const plaintext = JSON.stringify({ deviceType: DEVICE_TYPE, clientPublicKey: { kty, crv, x, y } });
  return sealJwe(new TextEncoder().encode(plaintext), requestData.recipient);
}
