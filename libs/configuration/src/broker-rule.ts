import type { Loose } from './check-values.js';
import type { Fault } from './fault.js';
import type { BrokerSettings } from './settings/broker-settings.js';

/** A rule between settings. It sees what is right on its own; what is missing or wrong has been reported already. */
export type BrokerRule = (settings: Loose<BrokerSettings>) => Fault[];
