import type { BrokerConfiguration, HttpTls, JwtConfiguration } from './broker-configuration.js';
import type { ConfiguredFiles } from './configured-files.js';
import type { ParsedConfiguration, ParsedJwt } from './parsed-configuration.js';

type Access = Pick<BrokerConfiguration, 'http' | 'auth'>;

/**
 * Reads the files that say how the API is reached and who calls; faults and warnings gather in `files`.
 * @returns undefined when one of the files is not usable
 */
export async function loadAccess(
  { http, auth }: Pick<ParsedConfiguration, 'http' | 'auth'>,
  files: ConfiguredFiles,
): Promise<Access | undefined> {
  const faultsBefore = files.faults.length;
  const { tls: tlsFiles, ...plainHttp } = http;
  const { jwt: jwtFiles, ...plainAuth } = auth;
  const tls = tlsFiles === undefined ? undefined : await loadTls(tlsFiles, files);
  const jwt = jwtFiles === undefined ? undefined : await loadJwt(jwtFiles, files);
  if (files.faults.length > faultsBefore) return undefined;
  return {
    http: { ...plainHttp, ...(tls === undefined ? {} : { tls }) },
    auth: { ...plainAuth, ...(jwt === undefined ? {} : { jwt }) },
  };
}

async function loadTls(
  { certFile, keyFile, clientCaFile }: NonNullable<ParsedConfiguration['http']['tls']>,
  files: ConfiguredFiles,
): Promise<HttpTls | undefined> {
  const cert = await files.certificates(certFile, 'http.tls.certFile');
  const key = await files.privateKey(keyFile, 'http.tls.keyFile');
  const clientCa =
    clientCaFile === undefined ? undefined : await files.certificates(clientCaFile, 'http.tls.clientCaFile');
  if (cert === undefined || key === undefined) return undefined;
  files.assertPair({ cert, key }, 'http.tls.keyFile');
  return { cert, key, ...(clientCa === undefined ? {} : { clientCa }) };
}

async function loadJwt({ keys, ...base }: ParsedJwt, files: ConfiguredFiles): Promise<JwtConfiguration | undefined> {
  if (keys.kind === 'file') {
    const set = await files.keySet(keys.file, 'auth.jwt.jwksFile');
    return set === undefined ? undefined : { ...base, keys: { kind: 'set', set } };
  }
  const { kind, uri, tokenFile, caFile } = keys;
  const ca = caFile === undefined ? undefined : await files.certificates(caFile, 'auth.jwt.jwksCaFile');
  return {
    ...base,
    keys: {
      kind,
      uri,
      ...(ca === undefined ? {} : { ca }),
      ...(tokenFile === undefined ? {} : { tokenFile: files.absolute(tokenFile) }),
    },
  };
}
