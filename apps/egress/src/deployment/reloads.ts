import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Clock } from '#libs/clock';
import { type EgressConfiguration, type EgressConfigurationSource, Reloads } from '#libs/configuration';
import { tlsOptions } from '#libs/edge';
import type { Logger, LogLevel } from '#libs/telemetry';
import type { EgressAudit } from '../audit/egress-audit.js';
import { Deployment, type DeploymentParts } from './deployment.js';
import { changeBetween, type DeploymentChange, isEmpty, namesOf } from './deployment-change.js';
import type { DeploymentInForce } from './deployment-in-force.js';
import { withFixedSettings } from './fixed-settings.js';

export type ReloadSource = Pick<EgressConfigurationSource, 'load' | 'stamp' | 'loadedStamp'>;

interface ReloadsParts {
  readonly setLogLevel?: ((level: LogLevel) => void) | undefined;
  readonly inForce: DeploymentInForce;
  readonly parts: DeploymentParts;
  readonly server: Server;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly audit: Pick<EgressAudit, 'configurationRead'>;
  /** Called for each attempt. */
  readonly onReload: (isTaken: boolean) => void;
}

/** What a change of its configuration means to the egress: no payment notices any. */
export function egressReloads(
  source: ReloadSource,
  parts: ReloadsParts,
): Reloads<EgressConfiguration, DeploymentChange> {
  const { inForce, clock, logger, audit, onReload } = parts;
  return new Reloads({
    ...{ source, clock, logger, withFixedSettings },
    runbook: 'config-reload-failed',
    current: () => inForce.current.configuration,
    list: {
      path: 'egress.clients',
      namesOf,
      gone: 'clients are gone from the configuration: they are let in no more',
    },
    certificate: { path: 'egress.listen.tls.certFile', of: ({ listen }) => listen.tls?.cert },
    changeOver: async (configuration, isClosed) => {
      const change = changeBetween(inForce.current.configuration, configuration);
      if (isEmpty(change)) return change;
      const next = await Deployment.create(configuration, parts.parts, inForce.current);
      if (!isClosed()) return changeOver(next, parts).then(() => change);
      await next.close();
      return undefined;
    },
    onTaken: ({ change: { added, removed }, isNews }) => {
      const count = inForce.current.configuration.clients.length;
      if (isNews) audit.configurationRead({ isTaken: true, count, added: added.length, removed: removed.length });
      onReload(true);
    },
    onRefused: () => {
      audit.configurationRead({ isTaken: false });
      onReload(false);
    },
  });
}

/** The next deployment gets its sessions before any request depends on it. */
async function changeOver(next: Deployment, { inForce, server, setLogLevel }: ReloadsParts): Promise<void> {
  const { listen, log } = next.configuration;
  if (listen.tls !== undefined && server instanceof TlsServer) server.setSecureContext(tlsOptions(listen.tls));
  setLogLevel?.(log.level);
  next.start();
  await next.settled();
  inForce.replace(next);
}
