import type { Logger } from '#libs/telemetry';
import type { LastReading } from '../configuration/last-reading.js';
import type { StoreState } from './store-state.js';

interface AdviceParts {
  readonly lastReading: LastReading;
  readonly state: StoreState;
  readonly logger: Logger;
}

/**
 * Says, whichever of the two comes first, when the store refuses while its own new settings wait for a restart: other
 * refusals are nothing that a restart mends. Once, until one of the two is over.
 */
export function adviseRestart({ lastReading, state, logger }: AdviceParts): void {
  let isTold = false;
  const look = (): void => {
    const isDue = state.current?.condition === 'refuses' && lastReading.awaitingRestart.includes('store');
    if (isDue && !isTold) {
      logger.warn(
        { detail: state.current.reason, runbook: 'store-down' },
        'the new settings of the store may be what is missing: restart one replica',
      );
    }
    isTold = isDue;
  };
  state.onChange(look);
  lastReading.onChange(look);
}
