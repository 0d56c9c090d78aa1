import type { SessionSettings } from '#libs/session';
import type { Warning } from './fault.js';
import type { NamedFile } from './named-files.js';
import type { Permission } from './settings/auth-settings.js';

export interface BaseHttp {
  readonly host: string;
  readonly port: number;
  readonly docs: boolean;
  readonly maxWatchers: number;
  /** Of each caller, for the routes that cost more than a read. */
  readonly rateLimit: { readonly perSecond: number; readonly burst: number };
}

/** What needs no file: the same before and after loading. */
export interface BaseConfiguration {
  readonly http: BaseHttp;
  /** `merchantSeries`: so many merchants have metrics of their own. */
  readonly management: {
    readonly host: string;
    readonly port: number;
    readonly merchantSeries: number;
    readonly statusPage: boolean;
  };
  readonly auth: BaseAuth;
  /** `destination`: `stdout`, `none` or a file. Of the reads of one session, the first and every so many-th is told. */
  readonly audit: { readonly destination: string; readonly readEvery: number };
  /** Whether files are looked at for changes, and how often. */
  readonly reload: { readonly watch: boolean; readonly everyMs: number };
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error' };
  /** Every file that is named anywhere in it. */
  readonly files: readonly NamedFile[];
}

export interface BaseAuth {
  /** True only on a loopback address. */
  readonly disabled: boolean;
  /** `sha256` in lower case. */
  readonly tokens: readonly { readonly caller: string; readonly sha256: string }[];
  /** Several policies of one caller add up. `merchants` may hold `*`. */
  readonly policies: readonly {
    readonly caller: string;
    readonly merchants: readonly string[];
    readonly allow: readonly Permission[];
  }[];
  /** Whether a client certificate names a caller. */
  readonly mtls: boolean;
}

/** What tokens of the issuer must say. Durations in milliseconds. */
export interface BaseJwt {
  readonly issuer: string;
  readonly audience: string;
  readonly clockToleranceMs: number;
}

export type ParsedJwt = BaseJwt & {
  readonly keys:
    | { readonly kind: 'file'; readonly file: string }
    | { readonly kind: 'uri'; readonly uri: URL; readonly tokenFile?: string; readonly caFile?: string };
};

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** Where Redis is. */
export type RedisPlace =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'sentinel'; readonly sentinels: readonly HostAndPort[]; readonly name: string }
  | { readonly kind: 'cluster'; readonly nodes: readonly HostAndPort[] };

/** What a shared store's section says without any file. */
export interface BaseRedis {
  readonly type: 'redis';
  readonly keyPrefix: string;
  readonly place: RedisPlace;
  readonly username?: string;
}

export interface MemoryStore {
  readonly type: 'memory';
  readonly keyPrefix: string;
}

export type ParsedStore =
  | MemoryStore
  | (BaseRedis & {
      readonly passwordFile?: string;
      readonly tls?: {
        readonly caFile?: string;
        readonly certFile?: string;
        readonly keyFile?: string;
        readonly servername?: string;
      };
    });

/** What a merchant's gateway section says without any file. Durations in milliseconds. */
export interface BaseGateway {
  readonly baseUrl: URL;
  readonly environment: 'production' | 'test';
  readonly testBaseUrl?: URL;
  readonly timeoutMs: number;
  readonly supersedes: boolean | 'unknown';
  readonly proxy?: URL;
}

export interface BaseMerchant {
  readonly id: string;
  readonly required: boolean;
  readonly session: SessionSettings;
}

export type ParsedRequestData =
  | { readonly attach: 'none' }
  | { readonly attach: 'body' | 'header'; readonly name: string; readonly recipientKeyFile: string };

export interface ParsedMerchant extends BaseMerchant {
  readonly serviceCode:
    { readonly kind: 'value'; readonly value: string } | { readonly kind: 'file'; readonly file: string };
  /** Newest first, as written in the file. */
  readonly clientKeyFiles: readonly string[];
  readonly gateway: BaseGateway & {
    readonly requestData: ParsedRequestData;
    readonly tls: { readonly caFile?: string; readonly pins: readonly string[] };
  };
}

/** The file, checked in itself and across its settings; the files that it names have not been looked at. Frozen. */
export interface ParsedConfiguration extends BaseConfiguration {
  readonly http: BaseHttp & {
    readonly tls?: { readonly certFile: string; readonly keyFile: string; readonly clientCaFile?: string };
  };
  readonly auth: BaseAuth & { readonly jwt?: ParsedJwt };
  readonly store: ParsedStore;
  readonly merchants: readonly ParsedMerchant[];
  readonly warnings: readonly Warning[];
}
