import type { RecipientKey } from '#libs/jwe';
import type { SessionSettings } from '#libs/session';
import type { Findings } from './configuration-kind.js';
import type { JsonWebKeySet } from './file-contents.js';
import type { Loaded } from './named-files.js';
import type { AuthSettings, HttpTlsSettings, JwtSettings } from './settings/auth-settings.js';
import type { BrokerSettings } from './settings/broker-settings.js';
import type { GatewaySettings, MerchantSettings } from './settings/merchant-settings.js';
import type { StoreSettings } from './settings/store-settings.js';
import type { HostAndPort } from './value-rule.js';

/** The file, checked in itself and across its settings; the files that it names have not been read. Frozen. */
export interface ParsedConfiguration extends Omit<BrokerSettings, 'store' | 'merchants'>, Findings {
  readonly store: ParsedStore;
  readonly merchants: readonly ParsedMerchant[];
}

/** Everything that the broker and the command line need to know before they start. Frozen. */
export interface BrokerConfiguration extends Omit<Loaded<BrokerSettings>, 'auth' | 'store' | 'merchants'>, Findings {
  readonly auth: Omit<AuthSettings, 'jwt'> & { readonly jwt?: JwtConfiguration };
  readonly store: StoreConfiguration;
  readonly merchants: readonly MerchantConfiguration[];
}

/** PEM texts. `clientCa`: who signs the callers' certificates. */
export type HttpTls = Loaded<HttpTlsSettings>;

/** `tokenFile`: an absolute path, read at each request, because its content is rotated. */
export interface JwtConfiguration extends Pick<JwtSettings, 'issuer' | 'audience' | 'types' | 'clockToleranceMs'> {
  readonly keys:
    | { readonly kind: 'set'; readonly set: JsonWebKeySet }
    | { readonly kind: 'uri'; readonly uri: URL; readonly tokenFile?: string; readonly ca?: string };
}

/** Where Redis is. */
type RedisPlace =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'sentinel'; readonly sentinels: readonly HostAndPort[]; readonly name: string }
  | { readonly kind: 'cluster'; readonly nodes: readonly HostAndPort[] };

type PlaceSetting = 'url' | 'sentinels' | 'name' | 'cluster';

export type Store<Settings> =
  | { readonly type: 'memory'; readonly keyPrefix: string }
  | (Omit<Settings, PlaceSetting | 'type' | 'onStoreOutage'> & { readonly type: 'redis'; readonly place: RedisPlace });

export type ParsedStore = Store<StoreSettings>;
export type StoreConfiguration = Store<Loaded<StoreSettings>>;

export type ParsedMerchant = Omit<MerchantSettings, 'session'> & { readonly session: SessionSettings };

type LoadedGateway = Loaded<GatewaySettings>;

/** One merchant, ready for use: every file that it names has been read and checked. */
export interface MerchantConfiguration extends Omit<Loaded<MerchantSettings>, 'gateway' | 'session'> {
  readonly serviceCode: string;
  readonly gateway: Omit<LoadedGateway, 'requestData' | 'largestClockSkewMs'> & {
    readonly requestData:
      | { readonly attach: 'none' }
      | { readonly attach: 'body' | 'header'; readonly name: string; readonly recipient: RecipientKey };
  };
  readonly session: SessionSettings;
}
