import { describeWith } from '../../interop/availability.js';
import { allChecks } from './all-checks.js';
import { brokerDamages } from './broker-damages.js';
import type { Damage } from './damage.js';
import { egressDamages } from './egress-damages.js';
import { generalDamages } from './general-damages.js';
import type { Manifest } from './manifests.js';
import { kubectl, renderOverlays } from './rendered-overlays.js';
import { hasStrictSchemas } from './schema-checks.js';

describeWith(kubectl, 'a check of the manifests', () => {
  const { overlays } = renderOverlays();

  function damaged({ of: [kind, name], from, to, overlay = 'overlays/production' }: Damage): readonly Manifest[] {
    let changed = 0;
    const manifests = overlays[overlay].map((manifest) => {
      if (manifest.kind !== kind || (name ?? manifest.metadata.name) !== manifest.metadata.name) return manifest;
      const text = JSON.stringify(manifest);
      const other = text.replace(from, to);
      if (other !== text) changed += 1;
      return JSON.parse(other) as Manifest;
    });
    if (changed === 0) throw new Error(`nothing was changed: ${String(from)} is not there`);
    return manifests;
  }

  const held = [...generalDamages, ...brokerDamages, ...egressDamages].filter(
    ({ check }) => check !== 'schemas' || hasStrictSchemas,
  );

  it.each(held)('of its $check says $says', (damage) => {
    const faults = allChecks[damage.check]?.(damaged(damage)) ?? [];
    expect(faults.filter((fault) => damage.says.test(fault))).not.toEqual([]);
  });
});
