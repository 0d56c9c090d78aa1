import type { ClientKey, RecipientKey } from '#libs/jwe';
import type { Warning } from './fault.js';
import type {
  BaseAuth,
  BaseConfiguration,
  BaseGateway,
  BaseHttp,
  BaseJwt,
  BaseMerchant,
  BaseRedis,
  MemoryStore,
} from './parsed-configuration.js';

export type RequestDataConfiguration =
  | { readonly attach: 'none' }
  | { readonly attach: 'body' | 'header'; readonly name: string; readonly recipient: RecipientKey };

export interface GatewayConfiguration extends BaseGateway {
  readonly requestData: RequestDataConfiguration;
  /** `ca`: PEM certificates that replace the built-in authorities. */
  readonly tls: { readonly ca?: string; readonly pins: readonly string[] };
}

/** PEM texts; present: every connection to the store is encrypted. */
export interface StoreTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
}

export type StoreConfiguration = MemoryStore | (BaseRedis & { readonly password?: string; readonly tls?: StoreTls });

/** PEM texts. `clientCa`: who signs certificates of callers. */
export interface HttpTls {
  readonly cert: string;
  readonly key: string;
  readonly clientCa?: string;
}

/** `tokenFile`: an absolute path, to be read at each request, because its content is rotated. */
export type JwtConfiguration = BaseJwt & {
  readonly keys:
    | { readonly kind: 'set'; readonly set: JsonWebKeySet }
    | { readonly kind: 'uri'; readonly uri: URL; readonly tokenFile?: string; readonly ca?: string };
};

/** RFC 7517 section 5. What its keys are is for the user of each to judge. */
export interface JsonWebKeySet {
  readonly keys: readonly object[];
}

/** One merchant, ready for use: every file that it names has been read and checked. */
export interface MerchantConfiguration extends BaseMerchant {
  readonly serviceCode: string;
  /** Newest first; at least one. */
  readonly clientKeys: readonly ClientKey[];
  readonly gateway: GatewayConfiguration;
}

/** Everything that the broker and the command line need to know before they start. Frozen. */
export interface BrokerConfiguration extends BaseConfiguration {
  readonly http: BaseHttp & { readonly tls?: HttpTls };
  readonly auth: BaseAuth & { readonly jwt?: JwtConfiguration };
  readonly store: StoreConfiguration;
  readonly merchants: readonly MerchantConfiguration[];
  /** What does not stop the start but should be mended, e.g. a key file that others can read. */
  readonly warnings: readonly Warning[];
}
