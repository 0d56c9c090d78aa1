import { brokerFaults, environmentFaults } from './broker-checks.js';
import { egressFaults } from './egress-checks.js';
import { hardeningFaults, networkFaults } from './hardening-checks.js';
import type { Manifest } from './manifests.js';
import { wiringFaults } from './wiring-checks.js';

/** Reports what is wrong with what was rendered for an intent. */
export type ManifestCheck = (manifests: readonly Manifest[]) => readonly string[];

/** Everything that every intent must pass. */
export const allChecks: Readonly<Record<string, ManifestCheck>> = {
  wiring: wiringFaults,
  hardening: hardeningFaults,
  network: networkFaults,
  broker: brokerFaults,
  egress: egressFaults,
  environment: (manifests) =>
    ['broker', 'sandbox', 'egress'].flatMap((program) => environmentFaults(manifests, program)),
};
