import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import { createSecureContext } from 'node:tls';
import { type BrokerConfiguration, type ConfigurationSource, Reloads } from '#libs/configuration';
import { endConnections, tlsOptions } from '#libs/edge';
import type { AuditLog, Logger } from '#libs/telemetry';
import type { Clock } from '#libs/clock';
import type { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import type { SessionWatchers } from '../events/session-watchers.js';
import type { OpenReplica } from '../renewal/replica.js';
import {
  authoritiesShrank,
  calledOtherwise,
  type ConfigurationChange,
  changeBetween,
  idsOf,
  withFixedSettings,
} from './configuration-change.js';

interface ReloadParts {
  readonly source: Pick<ConfigurationSource, 'load' | 'stamp' | 'loadedStamp'>;
  readonly configuration: ConfigurationInForce;
  /** Puts a configuration in force, with everything that follows from the difference. */
  readonly changeOver: (next: BrokerConfiguration) => ConfigurationChange;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly auditLog: AuditLog;
  /** Called for each attempt. */
  readonly onReload: (taken: boolean) => void;
}

/** What a change of its configuration means to the broker. */
export function brokerReloads(parts: ReloadParts): Reloads<BrokerConfiguration, ConfigurationChange> {
  const { source, configuration, changeOver, clock, logger, auditLog, onReload } = parts;
  const { lastReading } = configuration;
  return new Reloads({
    ...{ source, clock, logger, withFixedSettings, changeOver },
    runbook: 'config-reload-failed',
    current: () => configuration.current,
    list: {
      path: 'merchants',
      namesOf: idsOf,
      gone: 'merchants are gone from the configuration: nobody is served their sessions any more',
    },
    certificate: { path: 'http.tls.certFile', of: ({ http }) => http.tls?.cert },
    onTaken: ({ change, awaitingRestart, isNews }) => {
      lastReading.noteTaken(awaitingRestart, clock.now());
      onReload(true);
      if (isNews) record(auditLog, change, configuration.current.merchants.length);
    },
    onRefused: (faults) => {
      const firstFault = faults[0]?.path;
      lastReading.noteRefused({
        since: clock.now(),
        faults: Math.max(faults.length, 1),
        ...(firstFault !== undefined && { firstFault }),
      });
      auditLog.append({ action: 'configuration.change', outcome: 'refused', reason: 'configuration_invalid' });
      onReload(false);
    },
  });
}

function record(auditLog: AuditLog, { added, removed, changed, settings }: ConfigurationChange, count: number): void {
  const outcome = 'allowed';
  auditLog.append({ action: 'configuration.load', outcome, count, added: added.length, removed: removed.length });
  for (const [what, ids] of Object.entries({ added, removed, changed })) {
    for (const merchant of ids) auditLog.append({ action: `configuration.merchant_${what}`, outcome, merchant });
  }
  for (const reason of settings) auditLog.append({ action: 'configuration.change', outcome, reason });
}

interface ChangeOverParts {
  readonly configuration: ConfigurationInForce;
  readonly open: Pick<OpenReplica, 'retired' | 'replica'>;
  readonly watchers: Pick<SessionWatchers, 'endLost'>;
  readonly server: Server;
  readonly setLogLevel: (level: BrokerConfiguration['log']['level']) => void;
}

/**
 * All or nothing: if it throws, nothing has happened. Once it returns, the configuration is in force; what the replica
 * does about its merchants continues.
 * @throws whatever is thrown by something that cannot be made from the configuration, such as a TLS context
 */
export function changeOverOf(parts: ChangeOverParts): (next: BrokerConfiguration) => ConfigurationChange {
  const { configuration, open, watchers, server, setLogLevel } = parts;
  // Made only to find out whether it can be: a certificate that OpenSSL refuses must not come into force.
  configuration.derive(({ http }) => http.tls && createSecureContext(tlsOptions(http.tls)));
  return (next) => {
    const before = configuration.current;
    const change = changeBetween(before, next);
    configuration.replace(next);
    retireKeys(open.retired, before, next);
    const { tls } = next.http;
    if (tls !== undefined && server instanceof TlsServer) server.setSecureContext(tlsOptions(tls));
    setLogLevel(next.log.level);
    watchers.endLost();
    if (authoritiesShrank(before, next)) endConnections(server);
    const { added, removed } = change;
    void open.replica.merchantsChanged({ added, removed, changed: calledOtherwise(before, next) });
    return change;
  };
}

/** Allows for the time from the gateway's answer to the end of the last attempt to publish its content. */
const GRACE_BEYOND_TIMEOUT_MS = 10_000;

function retireKeys(retired: OpenReplica['retired'], before: BrokerConfiguration, next: BrokerConfiguration): void {
  const kept = new Map(
    next.merchants.map(({ id, clientKeys }) => [id, clientKeys.map(({ thumbprint }) => thumbprint)]),
  );
  for (const { id, clientKeys, gateway } of before.merchants) {
    const gone = clientKeys.filter(({ thumbprint }) => kept.get(id)?.includes(thumbprint) !== true);
    if (gone.length > 0) retired.retire(id, gone, gateway.timeoutMs + GRACE_BEYOND_TIMEOUT_MS);
  }
}
