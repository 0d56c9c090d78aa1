import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Loose } from './check-settings.js';
import type { CertificateEnd } from './certificates.js';
import type { Fault } from './fault.js';
import type { Loaded, NamedFile } from './named-files.js';
import type { Fields } from './setting.js';
import type { GatewaySettings } from './settings/broker-settings.js';

/** What is known besides the settings themselves. */
export interface Findings {
  /** Every file that is named anywhere in the configuration. */
  readonly files: readonly NamedFile[];
  /** Does not stop the start but should be fixed, e.g. a key file that others can read. */
  readonly warnings: readonly Fault[];
  /** The certificates in its files, by the setting that names the file. */
  readonly certificates: readonly CertificateEnd[];
}

/** A kind of configuration file: its settings, the rules between them, and the options made from them. */
export interface ConfigurationKind<Settings, Configuration> {
  /** The whole file. */
  readonly fields: Fields;
  /** Contradictions between settings. */
  readonly rules: readonly Rule<Settings>[];
  /** Problems that do not stop the start, in settings that are each correct on their own. */
  readonly warnings: readonly Rule<Settings>[];
  /** Contradictions between the contents of files, as far as they could be read. */
  readonly fileFaults: (settings: Loaded<Loose<Settings>>) => Iterable<string>;
  /** The PKCS#11 modules that key files may name. */
  readonly modules: (settings: Loose<Settings>) => readonly (string | undefined)[];
  /** Turns settings without faults, with the contents of their files, into the options that the program works with. */
  readonly toConfiguration: (settings: Loaded<Settings>) => Configuration;
}

/**
 * What is wrong between settings that are each correct on their own: sentences that begin with the path of the setting
 * to blame, as a reader sees them. A rule sees only what is correct in itself, and asks `isFaulty` where its fault would
 * only follow from that of another setting.
 */
export type Rule<Settings> = (settings: Loose<Settings>, isFaulty: (path: string) => boolean) => Iterable<string>;

/** `http.port must …`: the path ends at the first space. */
export function faultSaid(sentence: string): Fault {
  const end = sentence.indexOf(' ');
  return { path: sentence.slice(0, end), problem: sentence.slice(end + 1) };
}

/** The items whose key occurred before, each with the first that has it; items without a key are skipped. */
export function* repeats<Item>(
  items: readonly Item[] | undefined,
  keyOf: (item: Item) => string | undefined,
): Iterable<readonly [number, number]> {
  const firstOf = new Map<string, number>();
  for (const [index, item] of (items ?? []).entries()) {
    const key = keyOf(item);
    const first = key === undefined ? undefined : firstOf.get(key);
    if (first !== undefined) yield [index, first];
    else if (key !== undefined) firstOf.set(key, index);
  }
}

/** Operations of the gateway (interface description): their paths are added to the base URL. */
const OPERATION = /\/(?:api-gateway\/authorize_virtual_device|ecom\/execute_request(?:\/.*)?|cipher\/\w+_by_jwk)\/*$/;

/** Of a `gateway` section, a merchant's or the egress's, at a path. */
export function* gatewayFaults(
  path: string,
  gateway: Loose<Pick<GatewaySettings, 'baseUrl' | 'environment' | 'tls'>> | undefined,
): Iterable<string> {
  const { baseUrl, environment, tls } = gateway ?? {};
  if (OPERATION.test(baseUrl?.pathname ?? ''))
    yield `${path}.baseUrl must not have the path of an operation, which is added to it; leave it out`;
  if (baseUrl?.protocol !== 'http:') return;
  if (environment === 'production')
    yield `${path}.baseUrl must be https, because gateway.environment is production; if this is a test gateway, set it to test`;
  if (tls !== undefined && (tls.caFile !== undefined || (tls.pins ?? []).length > 0))
    yield `${path}.tls has no effect on an http baseUrl; use https, or remove it`;
}

/** Of a `tls` section whose certificate is optional, at a path. */
export function* identityFaults(
  path: string,
  { certFile, keyFile }: { readonly certFile?: string | undefined; readonly keyFile?: string | undefined } = {},
): Iterable<string> {
  if ((certFile === undefined) !== (keyFile === undefined))
    yield `${path}.${certFile === undefined ? 'certFile' : 'keyFile'} is missing: certFile and keyFile belong together`;
}

/** A certificate paired with the wrong key is found now, not at the first connection. */
export function* pairFaults(
  path: string,
  { cert, key }: { readonly cert?: string | undefined; readonly key?: string | undefined } = {},
): Iterable<string> {
  if (cert !== undefined && key !== undefined && !isPair(cert, key))
    yield `${path}.keyFile names a key that does not belong to the certificate`;
}

function isPair(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    // OpenSSL's own words do not help here, and may quote the key: if it cannot read it, it is not the certificate's
    // key.
    return false;
  }
}
