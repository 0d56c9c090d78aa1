import type { Logger } from '#libs/telemetry';
import type { LastReading } from '../configuration/last-reading.js';
import type { StoreState } from './store-state.js';

interface AdviceParts {
  readonly lastReading: LastReading;
  readonly state: StoreState;
  readonly logger: Logger;
}

const advice = {
  refuses: 'the new settings of the store may be what is missing: restart one replica',
  silent:
    'the new settings of the store may be what is missing: restart one replica once session-broker doctor is green',
} as const;

/**
 * Says, whichever of the two comes first, when the store refuses or is silent while its own new settings wait for a restart: anything
 * else is nothing that a restart mends. Once for each of them, until one of the two is over. Of silence others may be the cause, and a
 * replica that restarts gives up what it holds in memory: doctor tells first whether the new settings reach the store.
 */
export function adviseRestart({ lastReading, state, logger }: AdviceParts): void {
  let told: keyof typeof advice | undefined;
  const look = (): void => {
    const { condition, reason } = state.current ?? {};
    const isDue = lastReading.awaitingRestart.includes('store');
    const due = isDue && (condition === 'refuses' || condition === 'silent') ? condition : undefined;
    if (due !== undefined && due !== told) logger.warn({ detail: reason, runbook: 'store-down' }, advice[due]);
    told = due;
  };
  state.onChange(look);
  lastReading.onChange(look);
}
