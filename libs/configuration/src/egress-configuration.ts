import type { ClientKey, RecipientKey } from '#libs/jwe';
import type { HttpTls } from './broker-configuration.js';
import type { Warning } from './fault.js';
import type { NamedFile } from './named-files.js';

/** Who may use the egress, and as which merchant. At least one of token, certificate and serviceCodeAlias is set. */
export interface EgressClient {
  /** Unique; for logs, metrics and the audit. */
  readonly name: string;
  readonly merchant: string;
  /** SHA-256 of the bearer token and, while it is being replaced, of the previous one; lower-case hexadecimal. */
  readonly tokenDigests: readonly string[];
  /** The name of its client certificate: URI SAN, DNS SAN or CN. */
  readonly certificate?: string;
  /** For a client that authorizes for itself: answers are sealed to its key. */
  readonly alias?: { readonly serviceCode: string; readonly publicKey: RecipientKey };
}

export interface EgressRoute {
  /** `/ecom/execute_request/hpp/**`: `*` is one part of a path, `**` at the end is one or more. */
  readonly path: string;
  readonly body: 'clear' | 'sealed';
  /** Members of a sealed body that are JWEs themselves: anything else in them is refused. */
  readonly encrypted: readonly string[];
  /** Members of a sealed body that are not searched for card numbers. */
  readonly notCards: readonly string[];
  /** The longest body in either direction. Sealed ones: 64 KiB at most. */
  readonly maxBytes: number;
}

/** Everything that the egress needs to know before it starts; every file has been read. Frozen. */
export interface EgressConfiguration {
  readonly listen: {
    readonly host: string;
    readonly port: number;
    readonly connections: { readonly max: number; readonly perAddress: number };
    readonly tls?: HttpTls;
  };
  readonly management: { readonly host: string; readonly port: number; readonly hosts: readonly string[] };
  readonly broker: {
    readonly url: URL;
    /** An absolute path, read again when it changes. */
    readonly tokenFile?: string;
    readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  };
  readonly gateway: {
    readonly baseUrl: URL;
    readonly environment: 'production' | 'test';
    /** From the first octet sent to the last one received. */
    readonly timeoutMs: number;
    readonly tls: { readonly ca?: string; readonly pins: readonly string[] };
    readonly proxy?: URL;
  };
  /** The egress's own keys, newest first, from which alias sessions are made. Never a merchant's. */
  readonly aliasKeys: readonly ClientKey[];
  readonly clients: readonly EgressClient[];
  readonly routes: readonly EgressRoute[];
  readonly audit: { readonly destination: string };
  readonly reload: { readonly watch: boolean; readonly everyMs: number; readonly maxRemoved: number };
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error' };
  readonly files: readonly NamedFile[];
  readonly warnings: readonly Warning[];
}
