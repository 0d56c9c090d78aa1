import type { SimulationSetup } from './simulation.js';

/** A call takes at most this many times the average: see `GatewayBehaviour`. */
export const SLOWEST_CALL = 1.5;

/** If so, another seed makes a different run. */
export function failsByChance({ settings, behaviour }: Pick<SimulationSetup, 'settings' | 'behaviour'>): boolean {
  return behaviour.failureShare > 0 || SLOWEST_CALL * behaviour.latencyMs > settings.gatewayTimeoutMs;
}
