import type { BrokerRule } from './broker-rule.js';
import type { Loose } from './check-values.js';
import type { AuthSettings } from './settings/auth-settings.js';

/** Whether somebody else than this file names callers. What could not be read counts: its own fault is told already. */
export function hasCallersFromOutside({ jwt, mtls }: Loose<AuthSettings>): boolean {
  return jwt !== undefined || mtls !== false;
}

const keysHaveOnePlace: BrokerRule = ({ auth }) => {
  if (auth?.jwt === undefined) return [];
  const { jwksUri, jwksFile } = auth.jwt;
  if (jwksUri === undefined && jwksFile === undefined) {
    return [{ path: 'auth.jwt.jwksUri', problem: 'is missing: the keys of the issuer come from jwksUri or jwksFile' }];
  }
  if (jwksUri !== undefined && jwksFile !== undefined) {
    return [{ path: 'auth.jwt.jwksFile', problem: 'stands beside auth.jwt.jwksUri; give one of them' }];
  }
  return [];
};

const fetchSettingsNeedUri: BrokerRule = ({ auth }) => {
  const jwt = auth?.jwt;
  if (jwt?.jwksFile === undefined) return [];
  return (['jwksTokenFile', 'jwksCaFile'] as const)
    .filter((setting) => jwt[setting] !== undefined)
    .map((setting) => ({ path: `auth.jwt.${setting}`, problem: 'has no effect with jwksFile; remove it' }));
};

const caNeedsHttps: BrokerRule = ({ auth }) =>
  auth?.jwt?.jwksCaFile !== undefined && auth.jwt.jwksUri?.toLowerCase().startsWith('http:') === true
    ? [{ path: 'auth.jwt.jwksCaFile', problem: 'has no effect on an http jwksUri; use https, or remove it' }]
    : [];

const certificatesNeedAuthority: BrokerRule = ({ auth, http }) => {
  if (auth?.mtls !== true || http === undefined || http.tls?.clientCaFile !== undefined) return [];
  const path = http.tls === undefined ? 'http.tls' : 'http.tls.clientCaFile';
  return [{ path, problem: 'is missing: auth.mtls needs certFile, keyFile and clientCaFile' }];
};

const authorityNeedsUse: BrokerRule = ({ auth, http }) =>
  auth?.mtls === false && http?.tls?.clientCaFile !== undefined
    ? [{ path: 'http.tls.clientCaFile', problem: 'has no effect without auth.mtls; set that, or remove this' }]
    : [];

/** The rules between the settings of who calls, and of the TLS that they come through. */
export const authRules: readonly BrokerRule[] = [
  keysHaveOnePlace,
  fetchSettingsNeedUri,
  caNeedsHttps,
  certificatesNeedAuthority,
  authorityNeedsUse,
];
