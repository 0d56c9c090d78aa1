import { hostname } from 'node:os';
import type { Clock } from '#libs/clock';
import type { Logger, Telemetry } from '#libs/telemetry';

/** The names under which Nest injects what the process provides. */
export const CLOCK = Symbol('clock');
export const LOGGER = Symbol('logger');
export const THIS_REPLICA = Symbol('this replica');

/** What a response says about the replica that gave it: the name people know it by, and its clock. */
export interface ThisReplica {
  readonly name: string;
  readonly clock: Clock;
}

/** What the process provides to every feature. */
export interface Platform {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The name people know this replica by; default: the host name. */
  readonly replicaName?: string;
  /** Without it, nothing is counted and there is no /metrics. */
  readonly telemetry?: Telemetry;
}

/**
 * How a replica identifies itself to the people who run it. A pod has its host name to itself. Elsewhere, replicas may
 * share a host, and each has its own port.
 * @param port as configured for the API; 0: any free one
 */
export function replicaName(environment: Readonly<Record<string, string | undefined>>, port: number): string {
  const isPod = (environment['KUBERNETES_SERVICE_HOST'] ?? '') !== '';
  if (isPod) return hostname();
  return `${hostname()}:${port === 0 ? `process-${process.pid}` : port}`;
}
