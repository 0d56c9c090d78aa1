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
