import type { EgressConfiguration } from '#libs/configuration';
import { GatewayConnections } from '#libs/gateway';
import { OutboundConnections } from '#libs/outbound';
import { ownUser } from '../doctor/own-user.js';
import { doctorReport } from '../doctor/doctor-report.js';
import { echoUrlOf } from '../doctor/echo-url.js';
import { BrokerVisit } from '../doctor/egress/broker-visit.js';
import { planEgressChecks } from '../doctor/egress/plan-egress-checks.js';
import { loadEgressAsFarAsPossible, type LoadedEgress } from '../doctor/loaded-configuration.js';
import { machineFacts } from '../doctor/machine.js';
import { runChecks } from '../doctor/run-checks.js';
import { demandKind } from '../file-kind.js';
import type { Report } from '../report.js';
import type { CommandContext } from '../terminal.js';

interface EgressDoctorOptions {
  readonly egress: string;
  /** A server that answers with its caller's address, to find out which one the world sees. */
  readonly echoUrl?: string;
}

/**
 * Checks the configuration of an egress against the world: files, broker, keys, gateway.
 * @throws BrokerError `invalid_request` for an invalid `echoUrl`, and for a broker's file
 */
export async function doctorEgress(
  { egress: file, echoUrl }: EgressDoctorOptions,
  { clock, environment, signal }: CommandContext,
): Promise<Report> {
  const echo = echoUrl === undefined ? undefined : echoUrlOf(echoUrl);
  await demandKind(file, environment, { kind: 'egress', otherwise: `: doctor --config ${file}` });
  const loaded = await loadEgressAsFarAsPossible(file, { environment, clock });
  const connections = new GatewayConnections(clock);
  const toBroker = new OutboundConnections({ clock });
  const access = brokerOf(loaded);
  const broker = access && new BrokerVisit(access, { clock, connections: toBroker });
  const machine = await machineFacts(environment);
  const checks = planEgressChecks({
    ...{ file, loaded, machine, user: ownUser(), tools: { clock, connections } },
    ...(broker === undefined ? {} : { broker }),
    ...(echo === undefined ? {} : { echo }),
  });
  try {
    return doctorReport(file, await runChecks(checks, { clock, signal }));
  } finally {
    await Promise.all([connections.close(), toBroker.close()]);
  }
}

function brokerOf(loaded: LoadedEgress): EgressConfiguration['broker'] | undefined {
  if (loaded.kind === 'usable') return loaded.configuration.broker;
  return loaded.known !== undefined && 'known' in loaded.known.broker ? loaded.known.broker.known : undefined;
}
