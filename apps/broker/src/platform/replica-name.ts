import { hostname } from 'node:os';

interface ReplicaPlace {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The port configured for the API; 0: any free one. */
  readonly port: number;
}

/**
 * How a replica identifies itself to the people who run it. A pod has its host name to itself. Elsewhere, replicas may
 * share a host, and each has its own port.
 */
export function replicaName({ environment, port }: ReplicaPlace): string {
  const isPod = (environment['KUBERNETES_SERVICE_HOST'] ?? '') !== '';
  if (isPod) return hostname();
  return `${hostname()}:${port === 0 ? `process-${process.pid}` : port}`;
}
