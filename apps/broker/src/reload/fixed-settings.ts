import { isDeepStrictEqual } from 'node:util';
import type { BrokerConfiguration } from '#libs/configuration';
import { tlsShape } from '#libs/edge';

interface FixedConfiguration {
  /** The configuration to put in force: whatever cannot change while the process runs is as it was. */
  readonly configuration: BrokerConfiguration;
  /** Settings that differ from those in force and wait for a restart. */
  readonly awaitingRestart: readonly string[];
}

/** Sections whose servers, connections and files are opened only once. */
const FIXED_SECTIONS = ['management', 'store'] as const;

/**
 * Takes from a changed configuration whatever can change while the broker runs. Whether callers are checked at all is
 * fixed together with the address it depends on: otherwise, a file that moves to loopback and switches authentication
 * off would open up an address that is not loopback.
 */
export function withFixedSettings(current: BrokerConfiguration, next: BrokerConfiguration): FixedConfiguration {
  const awaitingRestart: string[] = [];
  const fixed = <Value>(path: string, ours: Value, theirs: Value): Value => {
    if (!isDeepStrictEqual(ours, theirs)) awaitingRestart.push(path);
    return ours;
  };
  const sections = FIXED_SECTIONS.map((name) => [name, fixed(name, current[name], next[name])]);
  const http = {
    ...next.http,
    host: fixed('http.host', current.http.host, next.http.host),
    port: fixed('http.port', current.http.port, next.http.port),
    docs: fixed('http.docs', current.http.docs, next.http.docs),
    connections: fixed('http.connections', current.http.connections, next.http.connections),
  };
  const auth = {
    ...next.auth,
    disabled: fixed('auth.disabled', current.auth.disabled, next.auth.disabled),
    mtls: fixed('auth.mtls', current.auth.mtls, next.auth.mtls),
  };
  const audit = {
    ...next.audit,
    destination: fixed('audit.destination', current.audit.destination, next.audit.destination),
  };
  const tls = tlsOf(current.http.tls, next.http.tls);
  fixed('http.tls', tlsShape(current.http.tls), tlsShape(next.http.tls));
  const { tls: _, ...plain } = http;
  return {
    configuration: {
      ...next,
      ...(Object.fromEntries(sections) as Pick<BrokerConfiguration, (typeof FIXED_SECTIONS)[number]>),
      http: { ...plain, ...(tls === undefined ? {} : { tls }) },
      auth,
      audit,
    },
    awaitingRestart,
  };
}

type Tls = BrokerConfiguration['http']['tls'];

function tlsOf(current: Tls, next: Tls): Tls {
  return tlsShape(current) === tlsShape(next) ? next : current;
}
