import type { SessionSettings } from '#libs/session';
import { sessionOptions } from './arrange-options.js';
import { brokerKind } from './broker-kind.js';
import { ConfigurationError, located } from './fault.js';
import type { Environment } from './interpolate.js';
import { readYamlFile } from './load-configuration.js';
import { examine } from './parse-configuration.js';
import type { BrokerSettings } from './settings/broker-settings.js';

/** The part of a broker's configuration that determines when it renews. */
export interface Schedule {
  readonly store: Pick<BrokerSettings['store'], 'type'>;
  readonly merchants: readonly { readonly id: string; readonly session: SessionSettings }[];
}

/** Paths without which there is no schedule; every other value may depend on a variable that is not set. */
const DECISIVE =
  /^(?:store(?:\.(?:type|onStoreOutage))?|merchants(?:\[\d+\](?:\.(?:id|session.*|gateway(?:\.(?:timeout|largestClockSkew|supersedes))?))?)?)$/;

/**
 * Reads the settings that determine a broker's renewals from its configuration file: this needs no secret and reads no
 * other file.
 * @throws ConfigurationError with every fault of the file, and with the unset variables that affect the schedule
 */
export async function readSchedule(file: string, environment: Environment): Promise<Schedule> {
  const content = await readYamlFile(file, environment);
  const idle = new Set(content.unset.map(({ path }) => path).filter((path) => !DECISIVE.test(path)));
  const { settings, faults, places, hasMore } = examine(brokerKind, {
    ...content,
    faults: content.faults.filter(({ path }) => !idle.has(path)),
  });
  if (faults.length > 0) throw new ConfigurationError(located(places, faults), { hasMore });
  const { store, merchants } = settings as BrokerSettings;
  return {
    store,
    merchants: merchants.map((merchant) => ({ id: merchant.id, session: sessionOptions(merchant, store) })),
  };
}
