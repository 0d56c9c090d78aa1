import { WatchedReplicas } from '../observability/watched-replicas.js';

interface FleetOptions {
  readonly replicas: number;
  readonly lifetimeMs: number;
  /** As in the setting `session.handover`. */
  readonly handover: string;
  /** How long the gateway takes for a payment before it checks its session. */
  readonly paymentMs: number;
  /** How long a create call takes. */
  readonly createMs: number;
}

/** Replicas that share a real Redis, behind a gateway that ends the old session with each new one. */
export function startFleet({ replicas, lifetimeMs, handover, ...gateway }: FleetOptions): Promise<WatchedReplicas> {
  const session = { handover, budget: [{ calls: 1_000, per: '10m' }] };
  const faults = [
    { kind: 'latency', operation: 'create-order', delayMs: gateway.paymentMs },
    { kind: 'latency', operation: 'authorize', delayMs: gateway.createMs },
  ];
  return WatchedReplicas.start([{ id: 'shop', lifetimeMs, supersedes: true, session }], faults, replicas);
}
