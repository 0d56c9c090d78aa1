import type { ClientKey, RecipientKey } from '#libs/jwe';
import type { TlsTrust } from '#libs/outbound';

/**
 * How the session request data travels with the create-session call. The interface description leaves it open; no
 * published client attaches it, so `none` is the default of the configuration.
 */
export type RequestData =
  | { readonly attach: 'none' }
  | { readonly attach: 'body' | 'header'; readonly name: string; readonly recipient: RecipientKey };

/** Where a gateway is and how it is reached, whoever calls it. */
export type GatewayPlace = Pick<MerchantGateway, 'baseUrl' | 'environment' | 'timeoutMs' | 'tls' | 'proxy'>;

/** One merchant as its gateway calls need it. Plain, checked data: the app fills it from its configuration. */
export interface MerchantGateway {
  readonly merchant: string;
  readonly serviceCode: string;
  /** Newest first. The newest is the one named to the gateway; the rest only open. */
  readonly clientKeys: readonly ClientKey[];
  readonly baseUrl: URL;
  readonly environment: 'production' | 'test';
  /** Where the test-only helper requests go; only with `test`. */
  readonly testBaseUrl?: URL;
  /** One call as a whole: connect, headers and body. */
  readonly timeoutMs: number;
  readonly requestData: RequestData;
  readonly tls: TlsTrust;
  readonly proxy?: URL;
}
