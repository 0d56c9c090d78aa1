import type { SimulationSetup } from './simulation.js';

/** A call takes at most so many times the average: see `GatewayBehaviour`. */
export const SLOWEST_CALL = 1.5;

/** Then another seed is another run. */
export function failsByChance({ settings, behaviour }: Pick<SimulationSetup, 'settings' | 'behaviour'>): boolean {
  return behaviour.failureShare > 0 || SLOWEST_CALL * behaviour.latencyMs > settings.gatewayTimeoutMs;
}
