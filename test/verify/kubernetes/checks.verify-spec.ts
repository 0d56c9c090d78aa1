import { describeWith } from '../../interop/availability.js';
import { allChecks } from './all-checks.js';
import { brokerDamages } from './broker-damages.js';
import type { Damage } from './damage.js';
import { egressDamages } from './egress-damages.js';
import { generalDamages } from './general-damages.js';
import { kubernetesPrograms } from './kubernetes-programs.js';
import type { Manifest } from './manifests.js';
import { reachDamages } from './reach-damages.js';
import { type Rendered, renderIntents } from './intents.js';

function damaged(rendered: Rendered, { of: [kind, name], from, to, intent }: Damage): readonly Manifest[] {
  let changed = 0;
  const manifests = rendered[intent ?? 'production'].map((manifest) => {
    if (manifest.kind !== kind || (name ?? manifest.metadata.name) !== manifest.metadata.name) return manifest;
    const text = JSON.stringify(manifest);
    const other = text.replace(from, to);
    if (other !== text) changed += 1;
    return JSON.parse(other) as Manifest;
  });
  if (changed === 0) throw new Error(`nothing was changed: ${String(from)} is not there`);
  return manifests;
}

const damages = [...generalDamages, ...brokerDamages, ...egressDamages, ...reachDamages];

function heldTo(held: readonly Damage[]): void {
  const { intents } = renderIntents();

  it.each(held)('of its $check says $says', (damage) => {
    const faults = allChecks[damage.check]?.(damaged(intents, damage)) ?? [];
    expect(faults.filter((fault) => damage.says.test(fault))).not.toEqual([]);
  });
}

describeWith(kubernetesPrograms, 'a check of the manifests', () =>
  heldTo(damages.filter(({ check }) => check !== 'schemas')),
);

describeWith([kubernetesPrograms, 'schemas'], 'a check of the manifests against strict schemas', () =>
  heldTo(damages.filter(({ check }) => check === 'schemas')),
);
