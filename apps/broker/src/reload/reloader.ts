import type { Clock } from '#libs/clock';
import { type BrokerConfiguration, type ConfigurationSource, Reloads } from '#libs/configuration';
import type { AuditLog, Logger } from '#libs/telemetry';
import type { ChangeOver } from './change-over.js';
import { type ConfigurationChange, idsOf } from './configuration-change.js';
import type { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { withFixedSettings } from './fixed-settings.js';

interface ReloaderParts {
  readonly source: Pick<ConfigurationSource, 'load' | 'stamp' | 'loadedStamp'>;
  readonly configuration: ConfigurationInForce;
  readonly changeOver: Pick<ChangeOver, 'to'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly auditLog: AuditLog;
  /** Called for each attempt. */
  readonly onReload: (taken: boolean) => void;
}

/** What a change of its configuration means to the broker. */
export function brokerReloads(parts: ReloaderParts): Reloads<BrokerConfiguration, ConfigurationChange> {
  const { source, configuration, changeOver, clock, logger, auditLog, onReload } = parts;
  const { lastReading } = configuration;
  return new Reloads({
    ...{ source, clock, logger, withFixedSettings },
    runbook: 'config-reload-failed',
    current: () => configuration.current,
    list: {
      path: 'merchants',
      namesOf: idsOf,
      gone: 'merchants are gone from the configuration: nobody is served their sessions any more',
    },
    certificate: { path: 'http.tls.certFile', of: ({ http }) => http.tls?.cert },
    changeOver: (next) => changeOver.to(next),
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
