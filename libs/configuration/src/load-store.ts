import type { StoreConfiguration, StoreTls } from './broker-configuration.js';
import type { ConfiguredFiles } from './configured-files.js';
import type { ParsedStore } from './parsed-configuration.js';

/**
 * Reads the files that the store's settings name; faults and warnings gather in `files`.
 * @returns undefined when one of the files is not usable
 */
export async function loadStore(store: ParsedStore, files: ConfiguredFiles): Promise<StoreConfiguration | undefined> {
  if (store.type === 'memory') return store;
  const { passwordFile, tls: tlsFiles, ...rest } = store;
  const faultsBefore = files.faults.length;
  const password = passwordFile === undefined ? undefined : await files.password(passwordFile, 'store.passwordFile');
  const tls = tlsFiles === undefined ? undefined : await loadTls(tlsFiles, files);
  if (files.faults.length > faultsBefore) return undefined;
  return { ...rest, ...(password === undefined ? {} : { password }), ...(tls === undefined ? {} : { tls }) };
}

async function loadTls(
  { caFile, certFile, keyFile, servername }: NonNullable<Extract<ParsedStore, { type: 'redis' }>['tls']>,
  files: ConfiguredFiles,
): Promise<StoreTls> {
  const ca = caFile === undefined ? undefined : await files.certificates(caFile, 'store.tls.caFile');
  const cert = certFile === undefined ? undefined : await files.certificates(certFile, 'store.tls.certFile');
  const key = keyFile === undefined ? undefined : await files.privateKey(keyFile, 'store.tls.keyFile');
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(servername === undefined ? {} : { servername }),
  };
}
