import type { ClientKey, RecipientKey } from '#libs/jwe';
import type { TlsTrust } from '#libs/outbound';

/**
 * How the session request data travels with the create-session call. The interface description leaves this open; no
 * published client attaches it, so the configuration defaults to `none`.
 */
export type RequestData =
  | { readonly attach: 'none' }
  | { readonly attach: 'body' | 'header'; readonly name: string; readonly recipient: RecipientKey };

/** Where a gateway is and how it is reached, by a merchant or for a look from outside. */
export type GatewayPlace = Pick<MerchantGateway, 'baseUrl' | 'environment' | 'timeoutMs' | 'tls' | 'proxy'> &
  Partial<Pick<MerchantGateway, 'merchant'>>;

/** What the gateway calls of one merchant need. Plain, checked data: the app fills it from its configuration. */
export interface MerchantGateway {
  readonly merchant: string;
  readonly serviceCode: string;
  /** Newest first. The newest is the one named to the gateway; the others only open answers. */
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
