import { type EgressConfiguration, isSame } from '#libs/configuration';
import { tlsShape } from '#libs/edge';

/** Tied to what is open: sockets and files of the process. */
const FIXED = ['listen', 'management', 'audit'] as const;

interface FixedConfiguration {
  /** The configuration to put in force: whatever cannot change while the process runs is as it was. */
  readonly configuration: EgressConfiguration;
  /** Settings that differ from those in force and wait for a restart. */
  readonly awaitingRestart: readonly string[];
}

/** Takes from a changed configuration whatever can change while the egress runs. */
export function withFixedSettings(before: EgressConfiguration, loaded: EgressConfiguration): FixedConfiguration {
  const { host, port, connections } = before.listen;
  const tls = tlsShape(before.listen.tls) === tlsShape(loaded.listen.tls) ? loaded.listen.tls : before.listen.tls;
  const listen = { host, port, connections, ...(tls === undefined ? {} : { tls }) };
  return {
    configuration: { ...loaded, listen, management: before.management, audit: before.audit },
    awaitingRestart: FIXED.filter((name) => !isSame(fixedPartOf(before, name), fixedPartOf(loaded, name))),
  };
}

function fixedPartOf(configuration: EgressConfiguration, name: (typeof FIXED)[number]): object {
  if (name !== 'listen') return configuration[name];
  const { tls, ...rest } = configuration.listen;
  return { ...rest, tls: tlsShape(tls) };
}
